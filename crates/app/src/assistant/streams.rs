//! Response streams of the assistant: bounded for each member, each organization and the process, and ended with their
//! credential.

use std::pin::pin;
use std::time::Duration;

use attestry_domain::id::{MemberId, OrganizationId};

use crate::core::context::Ctx;
use crate::core::error::Error;
use crate::core::permits::{FairPermits, Limits, Permit};
use crate::identity::principals::LastingScope;

/// Interval at which the credential is checked while the stream is silent.
const CHECK_EVERY: Duration = Duration::from_secs(2);
/// Seconds after which a rejected client may try again.
const RETRY_SECONDS: u64 = 15;

/// Permits for streams of the assistant.
#[derive(Debug)]
pub(crate) struct StreamPermits {
    members: FairPermits<MemberId>,
    organizations: FairPermits<OrganizationId>,
}

impl Default for StreamPermits {
    fn default() -> Self {
        Self {
            members: FairPermits::new(Limits::without_queue(usize::MAX, 4)),
            organizations: FairPermits::new(Limits::without_queue(128, 16)),
        }
    }
}

/// One stream of the assistant.
#[derive(Debug)]
pub(crate) struct AssistantStream {
    ctx: Ctx,
    pub(crate) caller: LastingScope,
    _permits: (Permit<MemberId>, Permit<OrganizationId>),
}

impl AssistantStream {
    pub(crate) async fn begin(ctx: &Ctx, caller: LastingScope) -> Result<Self, Error> {
        let principal =
            caller.scope.principal().ok_or_else(|| Error::internal("only a member has such a stream"))?;
        let (member, organization) = (principal.member, principal.organization);
        let busy = |message| move |_| Error::TooMany { message, retry_after: RETRY_SECONDS };
        let own = ctx.part::<StreamPermits>().members.acquire(member).await.map_err(busy(
            "The assistant is already giving you as many answers as it can at once; wait until one has ended.",
        ))?;
        let shared = ctx.part::<StreamPermits>().organizations.acquire(organization).await.map_err(busy(
            "The assistant is giving as many answers as it can at once; try again in a moment.",
        ))?;
        Ok(Self { ctx: ctx.clone(), caller, _permits: (own, shared) })
    }

    /// Waits for a part of the answer, as long as the credential is valid.
    pub(crate) async fn wait<T>(&self, part: impl Future<Output = T>) -> Result<T, Error> {
        let mut part = pin!(part);
        loop {
            let done = tokio::time::timeout(CHECK_EVERY, &mut part).await;
            if !self.caller.is_allowed(&self.ctx).await? {
                return Err(Error::Unauthenticated {
                    code: self.caller.credential.invalid(),
                    message: "Your access has ended, and the answer with it.",
                });
            }
            if let Ok(done) = done {
                return Ok(done);
            }
        }
    }
}
