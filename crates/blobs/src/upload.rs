//! A file on its way into the store, piece by piece: at most one piece is in memory, and the next is
//! gathered only when the store has taken the last.

use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload};

use crate::Error;

/// Dropped before it is finished, it leaves nothing that can be seen.
#[derive(Debug)]
pub struct Upload {
    store: Arc<dyn ObjectStore>,
    path: Path,
    piece: usize,
    gathered: Vec<Bytes>,
    length: usize,
    /// Begun when the first piece is full; a file smaller than that is written at once.
    pieces: Option<Box<dyn MultipartUpload>>,
}

impl Upload {
    pub(crate) fn new(store: Arc<dyn ObjectStore>, path: Path, piece: usize) -> Self {
        Self { store, path, piece, gathered: Vec::new(), length: 0, pieces: None }
    }

    pub async fn write(&mut self, mut bytes: Bytes) -> Result<(), Error> {
        while self.length + bytes.len() > self.piece {
            // All pieces but the last have the same size: some stores insist.
            let part = bytes.split_to(self.piece - self.length);
            self.gather(part);
            self.send().await?;
        }
        self.gather(bytes);
        Ok(())
    }

    fn gather(&mut self, bytes: Bytes) {
        self.length += bytes.len();
        self.gathered.push(bytes);
    }

    async fn send(&mut self) -> Result<(), Error> {
        self.length = 0;
        let payload: PutPayload = self.gathered.drain(..).collect();
        let pieces = match &mut self.pieces {
            Some(pieces) => pieces,
            begun => begun.insert(self.store.put_multipart(&self.path).await?),
        };
        Ok(pieces.put_part(payload).await?)
    }

    /// Makes the file appear, whole and durable.
    pub async fn finish(mut self) -> Result<(), Error> {
        if self.pieces.is_none() {
            self.store.put(&self.path, self.gathered.into_iter().collect()).await?;
            return Ok(());
        }
        self.send().await?;
        if let Some(mut pieces) = self.pieces.take()
            && let Err(error) = pieces.complete().await
        {
            let _ = pieces.abort().await;
            return Err(error.into());
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
