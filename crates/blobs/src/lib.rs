//! Object storage: a folder (the default), an S3 bucket, or memory for tests, behind one set of named operations. A
//! file is written once under its key and never changed: a replacement has another key.

mod key;
mod served;
mod upload;

use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use attestry_domain::Time;
use attestry_domain::id::OrganizationId;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::signer::{SignedUrlOptions, Signer};
use object_store::{ClientOptions, GetOptions, ObjectStore, ObjectStoreExt, RetryConfig};
use url::Url;
use walkdir::WalkDir;

pub use key::{Folder, Key};
pub use served::Served;
pub use upload::Upload;

#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    #[error("the file is not in the store")]
    Missing,
    #[error("object storage: {0}")]
    Unavailable(String),
}

impl From<object_store::Error> for Error {
    fn from(error: object_store::Error) -> Self {
        match error {
            object_store::Error::NotFound { .. } => Self::Missing,
            other => Self::Unavailable(other.to_string()),
        }
    }
}

impl Error {
    /// Maps a write error: on a write, "not found" means that the bucket does not exist.
    fn of_writing(error: object_store::Error) -> Self {
        match error.into() {
            Self::Missing => Self::Unavailable("there is no such bucket".to_owned()),
            unavailable @ Self::Unavailable(_) => unavailable,
        }
    }
}

/// The store of an installation. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Blobs {
    store: Arc<dyn ObjectStore>,
    place: BlobLocation,
}

#[derive(Clone, Debug)]
enum BlobLocation {
    Memory,
    Folder(PathBuf),
    Bucket { signer: Arc<AmazonS3>, name: String, prefix: String, endpoint: String },
}

/// The path at which `attestry doctor` tests a write.
const PROBE: &str = "attestry-probe";

impl Blobs {
    /// Creates a store in memory. For tests.
    pub fn memory() -> Self {
        Self { store: Arc::new(InMemory::new()), place: BlobLocation::Memory }
    }

    /// Creates a store in a folder, which is created if it does not exist.
    pub fn folder(root: &FilePath) -> Result<Self, Error> {
        use std::os::unix::fs::DirBuilderExt;
        let unusable = |error: String| Error::Unavailable(format!("{}: {error}", root.display()));
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(root)
            .map_err(|error| unusable(error.to_string()))?;
        let store = LocalFileSystem::new_with_prefix(root).map_err(|error| unusable(error.to_string()))?;
        Ok(Self { store: Arc::new(store.with_fsync(true)), place: BlobLocation::Folder(root.to_owned()) })
    }

    /// Creates a store in `s3://bucket/prefix`; credentials, region and endpoint are the usual `AWS_*` among
    /// `variables`.
    pub fn bucket(url: &str, variables: impl IntoIterator<Item = (String, String)>) -> Result<Self, Error> {
        let wrong = || Error::Unavailable(format!("{url:?} is not s3://bucket or s3://bucket/prefix"));
        let parsed = Url::parse(url).map_err(|_| wrong())?;
        let name = parsed.host_str().filter(|_| parsed.scheme() == "s3").ok_or_else(wrong)?.to_owned();
        if parsed.query().is_some() || parsed.fragment().is_some() || parsed.port().is_some() {
            return Err(wrong());
        }
        let mut builder = AmazonS3Builder::new().with_bucket_name(&name);
        for (variable, value) in variables {
            if let Some(key) = aws_setting(&variable) {
                builder = builder.with_config(key, value);
            }
        }
        let endpoint = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint]
            .iter()
            .find_map(|key| builder.get_config_value(key))
            .unwrap_or_default();
        // A request waits for the result: fail sooner than the library's defaults. A file of the maximum size takes
        // four calls, which together end before the claim of an `Idempotency-Key` does.
        builder = builder
            .with_retry(RetryConfig {
                max_retries: 3,
                retry_timeout: Duration::from_secs(5),
                ..RetryConfig::default()
            })
            .with_client_options(
                ClientOptions::new()
                    .with_timeout(Duration::from_secs(20))
                    .with_allow_http(endpoint.starts_with("http://")),
            );
        let signer = Arc::new(builder.build()?);
        let prefix = parsed.path().trim_matches('/').to_owned();
        let store: Arc<dyn ObjectStore> = Arc::<AmazonS3>::clone(&signer);
        Ok(Self { store, place: BlobLocation::Bucket { signer, name, prefix, endpoint } })
    }

    /// Describes the location of the files for the operator.
    pub fn describe(&self) -> String {
        match &self.place {
            BlobLocation::Memory => "memory".to_owned(),
            BlobLocation::Folder(root) => root.display().to_string(),
            BlobLocation::Bucket { name, prefix, endpoint, .. } => {
                let at = if endpoint.is_empty() { "AWS" } else { endpoint };
                format!("s3://{name}/{prefix} at {at}")
            }
        }
    }

    fn prefix(&self) -> &str {
        match &self.place {
            BlobLocation::Bucket { prefix, .. } => prefix,
            BlobLocation::Memory | BlobLocation::Folder(_) => "",
        }
    }

    fn path(&self, key: &str) -> Path {
        Path::from(format!("{}/{key}", self.prefix()))
    }

    /// The part size of uploads in bytes: S3 accepts no part below 5 MiB except the last.
    pub fn piece(&self) -> usize {
        match self.place {
            BlobLocation::Bucket { .. } => 5 << 20,
            BlobLocation::Memory | BlobLocation::Folder(_) => 256 << 10,
        }
    }

    /// Starts a new file. It becomes visible with [`Upload::finish`], complete and durable.
    pub fn create(&self, key: &Key) -> Upload {
        Upload::new(Arc::clone(&self.store), self.path(&key.to_string()), self.piece())
    }

    pub async fn size(&self, key: &Key) -> Result<u64, Error> {
        Ok(self.store.head(&self.path(&key.to_string())).await?.size)
    }

    /// Streams a file or a range of it.
    pub async fn read(
        &self,
        key: &Key,
        range: Option<Range<u64>>,
    ) -> Result<BoxStream<'static, Result<Bytes, Error>>, Error> {
        let options = GetOptions { range: range.map(Into::into), ..GetOptions::default() };
        let found = self.store.get_opts(&self.path(&key.to_string()), options).await?;
        Ok(found.into_stream().map_err(Error::from).boxed())
    }

    /// Deletes a file; a missing file is not an error.
    pub async fn delete(&self, key: &Key) -> Result<(), Error> {
        match self.store.delete(&self.path(&key.to_string())).await.map_err(Error::from) {
            Ok(()) | Err(Error::Missing) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Every file of one organization, or of all.
    pub fn list(&self, of: Option<OrganizationId>) -> BoxStream<'static, Result<Key, Error>> {
        let under = match of {
            Some(organization) => self.path(&organization.to_string()),
            None => Path::from(self.prefix()),
        };
        let own = Path::from(self.prefix());
        self.store
            .list(Some(&under))
            .map_err(Error::from)
            .try_filter_map(move |found| {
                let rest = found
                    .location
                    .prefix_match(&own)
                    .map(|parts| parts.map(|part| part.as_ref().to_owned()).collect::<Vec<_>>().join("/"));
                std::future::ready(Ok(rest.and_then(|rest| Key::read(&rest))))
            })
            .boxed()
    }

    /// Returns a presigned URL, if the store supports it: it needs no credentials and expires.
    pub async fn link(
        &self,
        key: &Key,
        served: &Served,
        expires_in: Duration,
    ) -> Result<Option<String>, Error> {
        let BlobLocation::Bucket { signer, .. } = &self.place else { return Ok(None) };
        let options = SignedUrlOptions::new().with_query([
            ("response-content-type", served.media_type.clone()),
            ("response-content-disposition", served.disposition()),
            ("response-cache-control", "no-store".to_owned()),
        ]);
        let path = self.path(&key.to_string());
        let link = signer.signed_url_opts(http::Method::GET, &path, expires_in, &options).await?;
        Ok(Some(link.into()))
    }

    /// Deletes the staged files of uploads that died before `before`. A bucket does that with a lifecycle rule.
    pub async fn tidy(&self, before: Time) -> Result<(), Error> {
        let BlobLocation::Folder(root) = &self.place else { return Ok(()) };
        let root = root.clone();
        tokio::task::spawn_blocking(move || remove_staged(&root, before))
            .await
            .map_err(|error| Error::Unavailable(error.to_string()))?
            .map_err(|error| Error::Unavailable(error.to_string()))
    }

    /// Writes, reads and deletes a probe file.
    pub async fn check(&self) -> Result<(), Error> {
        let path = self.path(PROBE);
        let written = self.store.put(&path, Bytes::from_static(b"attestry").into()).await;
        written.map_err(Error::of_writing)?;
        let read = self.store.get(&path).await?.bytes().await?;
        self.store.delete(&path).await?;
        if read.as_ref() == b"attestry" {
            Ok(())
        } else {
            Err(Error::Unavailable("what was written is not what was read".to_owned()))
        }
    }
}

fn aws_setting(variable: &str) -> Option<AmazonS3ConfigKey> {
    variable.starts_with("AWS_").then(|| variable.to_ascii_lowercase().parse().ok()).flatten()
}

/// Deletes old staged files. An upload is staged next to its final path, with `#` and a number after the name.
/// Unreadable entries (a file system's own folder) contain none.
fn remove_staged(root: &FilePath, before: Time) -> std::io::Result<()> {
    let limit = UNIX_EPOCH + Duration::from_millis(u64::try_from(before.as_millis()).unwrap_or(0));
    for entry in WalkDir::new(root).into_iter().flatten() {
        let staged = entry.file_type().is_file() && entry.file_name().to_string_lossy().contains('#');
        let modified = entry.metadata().ok().and_then(|data| data.modified().ok());
        if staged && modified.is_some_and(|at| at < limit) {
            match std::fs::remove_file(entry.path()) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}
