//! The status of the database schema.

use attestry_storage::instance;
use attestry_storage::schema::MIGRATIONS;

use crate::boxed;
use crate::core::context::Ctx;
use crate::core::error::Error;

/// Returns the migrations that the database lacks; an error if it does not respond.
#[boxed]
pub async fn missing_migrations(ctx: &Ctx) -> Result<Vec<String>, Error> {
    ctx.db.read(async |t| instance::ping(t).await).await?;
    Ok(ctx.db.pending(MIGRATIONS).await?.missing)
}
