//! What is asked of the service itself.

use attestry_storage::instance;
use attestry_storage::schema::MIGRATIONS;

use crate::context::Ctx;
use crate::error::Error;

/// The migrations that the database lacks; an error if it does not answer.
pub async fn missing_migrations(ctx: &Ctx) -> Result<Vec<String>, Error> {
    ctx.db.read(async |t| instance::ping(t).await).await?;
    Ok(ctx.db.pending(MIGRATIONS).await?.missing)
}
