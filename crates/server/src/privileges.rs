//! Drops root. A command that root runs next to a service must not leave files that the service cannot write, so it
//! runs as the owner of the data folder.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Result, anyhow};
use nix::unistd::{Gid, Uid, geteuid, setgid, setgroups, setuid};

/// Switches to the owner of the data folder, if the process runs as root and another user owns the folder.
pub(crate) fn adopt_owner(data_dir: &Path) -> Result<()> {
    if !geteuid().is_root() {
        return Ok(());
    }
    let Ok(folder) = std::fs::metadata(data_dir) else { return Ok(()) };
    let (user, group) = (Uid::from_raw(folder.uid()), Gid::from_raw(folder.gid()));
    if user.is_root() {
        return Ok(());
    }
    let adopted = setgroups(&[group]).and_then(|()| setgid(group)).and_then(|()| setuid(user));
    adopted.map_err(|error| {
        anyhow!(
            "{} belongs to the user {user}, and root cannot become that user ({error}); run this command as: \
             sudo -u '#{user}' attestry …",
            data_dir.display()
        )
    })
}
