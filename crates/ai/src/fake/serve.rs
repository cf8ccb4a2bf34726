//! A minimal HTTP server, written by hand so that it can violate the protocol.

use std::fmt::Write as _;
use std::io;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::reply::{Act, Reply};
use super::{Seen, Stage, held};

pub(super) async fn listen(listener: TcpListener, stage: Arc<Stage>) {
    // Dropping it ends all connections.
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        stage.count(|counts| counts.connections += 1);
        connections.spawn(converse(stream, Arc::clone(&stage)));
    }
}

/// The result of a reply.
#[derive(PartialEq)]
enum Outcome {
    /// The connection can be used for another request.
    Whole,
    BrokenOff,
    HungUp,
}

async fn converse(stream: TcpStream, stage: Arc<Stage>) {
    // Bytes must be sent as they are written, one by one if the script requires it.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    while let Ok(Some(seen)) = read_request(&mut reader).await {
        held(&stage.seen).push(seen);
        stage.count(|counts| counts.requests += 1);
        let reply = stage.next_reply();
        let outcome = tokio::select! {
            outcome = perform(&reply, &mut writer, &stage) => outcome.unwrap_or(Outcome::HungUp),
            () = gone(&mut reader) => Outcome::HungUp,
        };
        match outcome {
            Outcome::Whole => {}
            Outcome::BrokenOff => return,
            Outcome::HungUp => return stage.count(|counts| counts.hang_ups += 1),
        }
    }
}

/// Waits until the client closes its side. The client sends nothing before it has a response.
async fn gone(reader: &mut BufReader<OwnedReadHalf>) {
    while matches!(reader.fill_buf().await, Ok(bytes) if !bytes.is_empty()) {
        let read = reader.buffer().len();
        reader.consume(read);
    }
}

async fn read_request(reader: &mut BufReader<OwnedReadHalf>) -> io::Result<Option<Seen>> {
    let mut line = String::new();
    if reader.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    let line = line.trim_end().trim_end_matches(" HTTP/1.1").to_owned();
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).await?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        headers.push((name.to_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).await?;
    Ok(Some(Seen { line, headers, body: serde_json::from_slice(&body).unwrap_or_default() }))
}

async fn perform(reply: &Reply, writer: &mut OwnedWriteHalf, stage: &Stage) -> io::Result<Outcome> {
    if let Some(head) = &reply.head {
        let mut text = format!("HTTP/1.1 {} Scripted\r\ntransfer-encoding: chunked\r\n", head.status);
        for (name, value) in &head.headers {
            // Writing to a string does not fail.
            let _ = write!(text, "{name}: {value}\r\n");
        }
        writer.write_all(format!("{text}\r\n").as_bytes()).await?;
    }
    for act in &reply.acts {
        match act {
            Act::Pause(pause) => tokio::time::sleep(*pause).await,
            Act::Wait => stage.take_cue().await,
            Act::Hang => std::future::pending().await,
            Act::BreakOff => return Ok(Outcome::BrokenOff),
            _ => {}
        }
        let bytes = act.bytes(stage.kind).unwrap_or_default();
        for part in bytes.chunks(if reply.slowly { 1 } else { bytes.len().max(1) }) {
            let mut chunk = format!("{:x}\r\n", part.len()).into_bytes();
            chunk.extend_from_slice(part);
            chunk.extend_from_slice(b"\r\n");
            writer.write_all(&chunk).await?;
            if reply.slowly {
                // Lets the client read before the next byte is sent.
                tokio::task::yield_now().await;
            }
        }
    }
    writer.write_all(b"0\r\n\r\n").await?;
    Ok(Outcome::Whole)
}
