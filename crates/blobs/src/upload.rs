//! A file on its way into the store, piece by piece: at most one piece is in memory, and the next is
//! gathered only when the store has taken the last.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt};

use crate::Error;

/// Dropped before it is finished, it leaves nothing that can be seen.
#[derive(Debug)]
pub struct Upload {
    store: Arc<dyn ObjectStore>,
    path: Path,
    piece: usize,
    /// Copied together: the bytes may come one by one, each with a buffer of its own.
    gathered: BytesMut,
    /// Begun when the first piece is full; a file smaller than that is written at once.
    pieces: Option<Box<dyn MultipartUpload>>,
}

impl Upload {
    pub(crate) fn new(store: Arc<dyn ObjectStore>, path: Path, piece: usize) -> Self {
        Self { store, path, piece, gathered: BytesMut::new(), pieces: None }
    }

    pub async fn write(&mut self, mut bytes: Bytes) -> Result<(), Error> {
        while self.gathered.len() + bytes.len() > self.piece {
            // All pieces but the last have the same size: some stores insist.
            let part = bytes.split_to(self.piece - self.gathered.len());
            self.gather(&part);
            self.send().await?;
        }
        self.gather(&bytes);
        Ok(())
    }

    fn gather(&mut self, bytes: &[u8]) {
        if self.gathered.capacity() < self.gathered.len() + bytes.len() {
            self.gathered.reserve(self.piece - self.gathered.len());
        }
        self.gathered.extend_from_slice(bytes);
    }

    async fn send(&mut self) -> Result<(), Error> {
        let piece = self.gathered.split().freeze();
        let pieces = match &mut self.pieces {
            Some(pieces) => pieces,
            begun => begun.insert(self.store.put_multipart(&self.path).await.map_err(Error::of_writing)?),
        };
        pieces.put_part(piece.into()).await.map_err(Error::of_writing)
    }

    /// Makes the file appear, whole and durable.
    pub async fn finish(mut self) -> Result<(), Error> {
        if self.pieces.is_none() {
            let written = self.store.put(&self.path, self.gathered.freeze().into()).await;
            return written.map(|_| ()).map_err(Error::of_writing);
        }
        let finished = self.finish_pieces().await;
        if finished.is_err() {
            self.abort().await;
        }
        finished
    }

    async fn finish_pieces(&mut self) -> Result<(), Error> {
        self.send().await?;
        if let Some(pieces) = &mut self.pieces {
            pieces.complete().await.map_err(Error::of_writing)?;
        }
        Ok(())
    }

    /// Gives up: what was written so far is removed.
    pub async fn abort(mut self) {
        if let Some(mut pieces) = self.pieces.take()
            && let Err(error) = pieces.abort().await
        {
            tracing::warn!(%error, "an upload that was given up left something behind");
        }
    }
}
