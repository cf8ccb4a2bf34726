//! What is asked of the service itself.

use attestry_storage::instance;
use attestry_storage::schema::MIGRATIONS;

use crate::core::context::Ctx;
use crate::core::error::Error;

/// The migrations that the database lacks; an error if it does not answer.
pub async fn missing_migrations(ctx: &Ctx) -> Result<Vec<String>, Error> {
    ctx.db.read(async |t| instance::ping(t).await).await?;
    Ok(ctx.db.pending(MIGRATIONS).await?.missing)
}
