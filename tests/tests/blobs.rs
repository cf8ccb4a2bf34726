//! One contract for every store: memory, a folder, and a bucket on a real S3 server.

#![expect(clippy::expect_used, reason = "test code")]

use std::time::Duration;

use attestry_blobs::{Blobs, Error, Folder, Key, Served};
use attestry_domain::Time;
use attestry_domain::id::{OrganizationId, RiskId};
use attestry_tests::s3::S3;
use bytes::Bytes;
use futures_util::TryStreamExt;
use tempfile::TempDir;

fn key(organization: u128, file: u128) -> Key {
    Key::new(OrganizationId::from_u128(organization), Folder::Attachments, RiskId::from_u128(file))
}

/// Returns bytes without a short repeating pattern.
fn content(length: usize) -> Vec<u8> {
    (0..length).map(|place| u8::try_from((place * 31 + place / 977) % 251).expect("small")).collect()
}

async fn write(blobs: &Blobs, key: &Key, content: &[u8]) -> Result<(), Error> {
    let mut upload = blobs.create(key);
    for chunk in content.chunks(300_007) {
        upload.write(Bytes::copy_from_slice(chunk)).await?;
    }
    upload.finish().await
}

async fn read(blobs: &Blobs, key: &Key, range: Option<std::ops::Range<u64>>) -> Result<Vec<u8>, Error> {
    let chunks: Vec<Bytes> = blobs.read(key, range).await?.try_collect().await?;
    Ok(chunks.concat())
}

async fn keys(blobs: &Blobs, of: Option<u128>) -> Vec<String> {
    let mut found: Vec<String> = blobs
        .list(of.map(OrganizationId::from_u128))
        .map_ok(|key| key.to_string())
        .try_collect()
        .await
        .expect("a list");
    found.sort();
    found
}

async fn contract(blobs: &Blobs) {
    assert!(keys(blobs, None).await.is_empty());
    // Empty, small, exactly one S3 part, and several parts with a remainder.
    for (file, length) in [(1, 0), (2, 5), (3, 5 << 20), (4, (11 << 20) + 17)] {
        let (key, content) = (key(1, file), content(length));
        write(blobs, &key, &content).await.expect("written");
        assert_eq!(blobs.size(&key).await.expect("a size"), length as u64);
        assert!(read(blobs, &key, None).await.expect("read") == content, "{length} bytes come back");
    }
    let all = content((11 << 20) + 17);
    assert_eq!(read(blobs, &key(1, 4), Some(7..19)).await.expect("read"), all[7..19]);
    let end = all.len() as u64;
    assert_eq!(read(blobs, &key(1, 4), Some(end - 3..end)).await.expect("read"), all[all.len() - 3..]);

    write(blobs, &key(2, 1), b"theirs").await.expect("written");
    assert_eq!(keys(blobs, None).await.len(), 5);
    assert_eq!(keys(blobs, Some(2)).await, [key(2, 1).to_string()]);
    assert_eq!(keys(blobs, Some(1)).await.len(), 4);
    assert!(keys(blobs, Some(3)).await.is_empty());

    // An aborted or dropped upload leaves no file.
    let mut given_up = blobs.create(&key(3, 1));
    given_up.write(Bytes::from(content(6 << 20))).await.expect("written");
    given_up.abort().await;
    let mut dropped = blobs.create(&key(3, 2));
    dropped.write(Bytes::from(content(6 << 20))).await.expect("written");
    drop(dropped);
    assert!(keys(blobs, Some(3)).await.is_empty());
    assert!(matches!(read(blobs, &key(3, 1), None).await, Err(Error::Missing)));
    assert!(matches!(blobs.size(&key(3, 1)).await, Err(Error::Missing)));

    blobs.delete(&key(2, 1)).await.expect("deleted");
    blobs.delete(&key(2, 1)).await.expect("deleted already");
    assert!(matches!(read(blobs, &key(2, 1), None).await, Err(Error::Missing)));
    blobs.check().await.expect("it works");
    assert_eq!(keys(blobs, None).await.len(), 4, "the check leaves nothing");
}

#[tokio::test]
async fn memory_keeps_the_contract() {
    contract(&Blobs::memory()).await;
}

#[tokio::test]
async fn a_folder_keeps_the_contract() {
    let folder = TempDir::new().expect("a folder");
    let blobs = Blobs::folder(&folder.path().join("made/by/us")).expect("a store");
    contract(&blobs).await;
    let served = Served { file_name: "a.txt".to_owned(), media_type: "text/plain".to_owned() };
    let link = blobs.link(&key(1, 2), &served, Duration::from_mins(15)).await.expect("asked");
    assert_eq!(link, None, "a folder has no links of its own");
}

#[tokio::test]
async fn a_folder_is_rid_of_what_a_dead_upload_left() {
    let folder = TempDir::new().expect("a folder");
    let blobs = Blobs::folder(folder.path()).expect("a store");
    write(&blobs, &key(1, 1), b"whole").await.expect("written");
    let staged = folder.path().join(format!("{}#1", key(1, 2)));
    std::fs::write(&staged, b"half").expect("written");
    blobs.tidy(Time::from_millis(0)).await.expect("tidied");
    assert!(staged.exists(), "it may still be going on");
    blobs.tidy(Time::from_millis(i64::MAX)).await.expect("tidied");
    assert!(!staged.exists());
    assert_eq!(read(&blobs, &key(1, 1), None).await.expect("read"), b"whole");
}

#[tokio::test]
async fn a_bucket_keeps_the_contract() {
    let s3 = S3::start();
    let blobs = Blobs::bucket(s3.url(), s3.variables()).expect("a store");
    contract(&blobs).await;
}

#[tokio::test]
async fn a_bucket_gives_links_that_need_no_credentials_and_expire() {
    let s3 = S3::start();
    let blobs = Blobs::bucket(s3.url(), s3.variables()).expect("a store");
    write(&blobs, &key(1, 2), b"<script>").await.expect("written");
    let served = Served { file_name: "Prüfung.txt".to_owned(), media_type: "text/plain".to_owned() };
    let link =
        blobs.link(&key(1, 2), &served, Duration::from_mins(15)).await.expect("asked").expect("a link");
    let answer = reqwest::get(&link).await.expect("an answer");
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "text/plain");
    assert_eq!(answer.headers()["content-disposition"].to_str().expect("ASCII"), served.disposition());
    assert_eq!(answer.bytes().await.expect("a body"), "<script>");
    let expired = blobs.link(&key(1, 2), &served, Duration::ZERO).await.expect("asked").expect("a link");
    assert_eq!(reqwest::get(&expired).await.expect("an answer").status(), 403);
}

#[tokio::test]
async fn a_bucket_that_cannot_be_reached_is_said_to_be_unavailable() {
    let s3 = S3::start();
    let mut variables = s3.variables();
    variables[1].1 = "NOBODY".to_owned();
    let blobs = Blobs::bucket(s3.url(), variables).expect("a store");
    assert!(matches!(blobs.check().await, Err(Error::Unavailable(_))));
    let nowhere = Blobs::bucket("s3://nowhere", s3.variables()).expect("a store");
    for length in [5, 6 << 20] {
        assert!(
            matches!(write(&nowhere, &key(1, 1), &content(length)).await, Err(Error::Unavailable(_))),
            "{length}"
        );
    }
    for bad in ["s3:", "s3://", "http://bucket", "s3://bucket?x=1", "bucket"] {
        assert!(Blobs::bucket(bad, s3.variables()).is_err(), "{bad}");
    }
}
