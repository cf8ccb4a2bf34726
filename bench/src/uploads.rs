//! The memory that uploads use: clients that each send one large file at the same time.

use anyhow::{Result, ensure};
use reqwest::multipart::{Form, Part};

use crate::process::Server;
use crate::seed::Home;

pub(crate) const CLIENTS: usize = 8;
pub(crate) const LIMIT_MB: u64 = 64;
const SIZE: usize = 10 << 20;

/// Returns the peak increase of resident memory in MB.
pub(crate) async fn raise(server: &Server, home: &Home) -> Result<u64> {
    let url = format!("{}/v1/risks/{}/attachments", server.url, home.risk);
    let before = server.forget_peak()?;
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (url, key) = (url.clone(), home.key.clone());
            tokio::spawn(async move {
                let file =
                    Part::bytes(vec![b'x'; SIZE - 1024]).file_name("log.txt").mime_str("text/plain")?;
                let form = Form::new().part("file", file);
                let reply =
                    reqwest::Client::new().post(url).header("x-api-key", key).multipart(form).send().await?;
                ensure!(reply.status() == 201, "{}", reply.text().await?);
                Ok(())
            })
        })
        .collect();
    for client in clients {
        client.await??;
    }
    Ok(server.peak_mb().saturating_sub(before))
}
