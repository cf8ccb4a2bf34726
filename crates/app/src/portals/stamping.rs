//! Inspects and watermarks PDFs that users have uploaded.

use std::sync::OnceLock;

use attestry_domain::id::OrganizationId;
use attestry_pdf::{Inspected, Label, Stamp, Stamper, StamperError, StamperSettings, Unreadable};
use tokio::task::spawn_blocking;

use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::permits::{FairPermits, Limits};

/// The processes that read uploaded PDFs. They are created on first use, because most commands read none.
#[derive(Debug)]
pub(crate) struct Stamping {
    settings: StamperSettings,
    stamper: OnceLock<Stamper>,
    pub(crate) permits: FairPermits<OrganizationId>,
}

impl Ctx {
    pub(crate) fn stamping(&self) -> &Stamping {
        self.part()
    }
}

impl Stamping {
    pub(crate) fn new(settings: StamperSettings) -> Self {
        Self { settings, stamper: OnceLock::new(), permits: FairPermits::new(Limits::of_requests(2)) }
    }

    fn stamper(&self) -> &Stamper {
        self.stamper.get_or_init(|| Stamper::new(self.settings.clone()))
    }

    /// Checks that a file is a PDF that can be watermarked and has no active content.
    pub(crate) async fn inspect(
        &self,
        organization: OrganizationId,
        file: &[u8],
    ) -> Result<Result<Inspected, Unreadable>, Error> {
        let _permit = self.permits.acquire(organization).await?;
        rejected(self.stamper().inspect(file).await)
    }

    /// Returns the file with the stamp on each page.
    pub(crate) async fn stamp(
        &self,
        organization: OrganizationId,
        file: &[u8],
        stamp: Stamp,
    ) -> Result<Result<Vec<u8>, Unreadable>, Error> {
        let permit = self.permits.acquire(organization).await?;
        let printed = spawn_blocking(move || (Label::print(&stamp), permit));
        let (label, _permit) = printed.await.map_err(Error::internal)?;
        rejected(self.stamper().stamp(file, &label?).await)
    }
}

/// Separates files that are rejected from failures of this server.
fn rejected<T>(result: Result<T, StamperError>) -> Result<Result<T, Unreadable>, Error> {
    match result {
        Ok(done) => Ok(Ok(done)),
        Err(StamperError::Unreadable(reason)) => Ok(Err(reason)),
        Err(error @ StamperError::Unavailable) => Err(Error::Unavailable(error.to_string())),
    }
}
