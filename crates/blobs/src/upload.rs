//! A streaming upload: at most one part is in memory, and the next is collected only after the store has accepted the
//! last.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt};

use crate::Error;

/// An upload in progress. If it is dropped before it is finished, no visible file remains.
#[derive(Debug)]
pub struct Upload {
    store: Arc<dyn ObjectStore>,
    path: Path,
    piece: usize,
    /// A copy of the input, which may arrive byte by byte, each with a buffer of its own.
    gathered: BytesMut,
    /// Started when the first part is full; a smaller file is written with one call.
    pieces: Option<Box<dyn MultipartUpload>>,
}

impl Upload {
    pub(crate) fn new(store: Arc<dyn ObjectStore>, path: Path, piece: usize) -> Self {
        Self { store, path, piece, gathered: BytesMut::new(), pieces: None }
    }

    pub async fn write(&mut self, mut bytes: Bytes) -> Result<(), Error> {
        while self.gathered.len() + bytes.len() > self.piece {
            // All parts except the last have the same size: some stores require it.
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

    /// Completes the file and makes it visible and durable.
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

    /// Aborts the upload and deletes the parts written so far.
    pub async fn abort(mut self) {
        if let Some(mut pieces) = self.pieces.take()
            && let Err(error) = pieces.abort().await
        {
            tracing::warn!(%error, "an upload that was given up left something behind");
        }
    }
}
