//! A connection with a write timeout. A response is written as fast as the client reads it; a client that stops
//! reading would hold the response, and the resources behind it, forever.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// The minimum number of bytes that a slow client must read per timeout; a few bytes now and then do not count.
const MIN_BYTES_PER_TIMEOUT: usize = 64 << 10;

#[derive(Debug)]
pub(crate) struct WriteTimeoutStream<S> {
    stream: S,
    write_timeout: Duration,
    /// Timer that runs while the client is behind.
    over: Option<Pin<Box<Sleep>>>,
    /// Bytes written since the timer was started.
    taken: usize,
}

impl<S> WriteTimeoutStream<S> {
    pub(crate) fn new(stream: S, write_timeout: Duration) -> Self {
        Self { stream, write_timeout, over: None, taken: 0 }
    }

    /// Passes on the result of a write, and fails with a timeout if the client has read too little.
    fn measure(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(bytes)) => {
                self.taken += bytes;
                if self.taken >= MIN_BYTES_PER_TIMEOUT {
                    self.over = None;
                }
                Poll::Ready(Ok(bytes))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                if self.over.is_none() {
                    self.over = Some(Box::pin(tokio::time::sleep(self.write_timeout)));
                    self.taken = 0;
                }
                if let Some(over) = &mut self.over {
                    ready!(over.as_mut().poll(context));
                }
                Poll::Ready(Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "the client does not read its answer",
                )))
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeoutStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeoutStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.measure(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.measure(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Everything was written: the next response starts with no timer.
        self.over = None;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

    use super::*;

    /// Writes a long response to this client and returns the result of the write.
    async fn answer<F: Future<Output = ()> + Send + 'static>(
        client: impl FnOnce(DuplexStream) -> F,
    ) -> io::Result<()> {
        let (server, far) = tokio::io::duplex(1000);
        let reading = tokio::spawn(client(far));
        let written =
            WriteTimeoutStream::new(server, Duration::from_secs(1)).write_all(&vec![0; 1 << 20]).await;
        reading.abort();
        written
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_is_left() {
        let error = answer(|client| async move {
            std::future::pending::<()>().await;
            drop(client);
        });
        assert_eq!(error.await.expect_err("nobody reads").kind(), io::ErrorKind::TimedOut);
        let error = answer(|mut client| async move {
            while client.read_exact(&mut [0; 100]).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        assert_eq!(error.await.expect_err("hardly anybody reads").kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_client_that_reads_is_waited_for() {
        let read =
            answer(|mut client| async move { while client.read_exact(&mut [0; 4096]).await.is_ok() {} });
        read.await.expect("read to its end");
    }
}
