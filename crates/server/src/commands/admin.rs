//! `attestry admin`: operator tasks on the command line.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use attestry_app::identity::setup::{self, NewInstallation};
use attestry_app::identity::{
    mail_domains, members, organizations, passwords, second_factors, sign_in_policy,
};
use attestry_app::{Ctx, Error};
use attestry_domain::identity::api_keys::{NewApiKey, Scopes};
use attestry_domain::identity::members::Person;
use attestry_domain::portals::DomainName;
use attestry_domain::text::{Email, Name, Password};
use attestry_domain::{Parse, Time};
use clap::Subcommand;
use serde_json::json;

use super::{named_organization, say, title};
use crate::config::Config;
use crate::start;

#[derive(Debug, Subcommand)]
pub(crate) enum Admin {
    /// Create an organization, its owner and an API key
    Bootstrap {
        /// The organization's name
        #[arg(long)]
        organization: String,
        /// The owner's e-mail address; an existing user becomes an owner and keeps their password
        #[arg(long)]
        email: String,
        /// The owner's password; read from standard input if left out
        #[arg(long)]
        password: Option<String>,
        /// The owner's name
        #[arg(long)]
        name: Option<String>,
        /// Add an organization to an installation that has one already
        #[arg(long)]
        another: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the organizations and their users
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Create an API key that acts as a member
    CreateApiKey {
        /// The organization's name or id
        #[arg(long)]
        organization: String,
        /// The member's e-mail address
        #[arg(long)]
        email: String,
        /// The key's name
        #[arg(long, default_value = "command line")]
        name: String,
        /// The key's scopes; all permissions of the member by default
        #[arg(long, value_delimiter = ',')]
        scopes: Vec<String>,
        /// The expiry time (RFC 3339)
        #[arg(long)]
        expires_at: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Set a user's password and end their sessions
    ResetPassword {
        /// The user's e-mail address
        #[arg(long)]
        email: String,
        /// The new password; read from standard input if left out
        #[arg(long)]
        password: Option<String>,
    },
    /// Remove the authenticator app, the recovery codes and the passkeys of a user who lost them, and end their sessions
    ResetSecondFactor {
        /// The user's e-mail address
        #[arg(long)]
        email: String,
    },
    /// Make single sign-on optional again for an organization, also while servers are running
    DisableSso {
        /// The organization's name or id
        #[arg(long)]
        organization: String,
    },
    /// Confirm a mail domain of an organization without a DNS record; you answer for it
    VerifyDomain {
        /// The organization's name or id
        #[arg(long)]
        organization: String,
        /// The domain, such as acme.example
        #[arg(long)]
        domain: String,
    },
    /// Restore an organization that was deleted less than 30 days ago
    RestoreOrganization {
        /// The organization's name or id
        organization: String,
    },
    /// Encrypt the secrets of automations, authenticator apps and connections under a new key, also while servers are running
    RotateSecretsKey,
    /// Use the current secret key from now on, although the database was created with another one
    AdoptSecretKey,
}

fn read<T: Parse>(flag: &str, text: &str) -> Result<T> {
    T::parse(text).map_err(|message| anyhow!("--{flag} {message}"))
}

/// Returns the password of the flag, or reads it from standard input, without echo on a terminal.
fn password(given: Option<String>) -> Result<Password> {
    let text = match given {
        Some(text) => text,
        None if std::io::stdin().is_terminal() => {
            rpassword::prompt_password("Password: ").context("no password was typed")?
        }
        None => {
            let mut line = String::new();
            if std::io::stdin().read_line(&mut line).context("no password on standard input")? == 0 {
                bail!("no password was given: use --password, or write it to standard input");
            }
            line.trim_end_matches(['\r', '\n']).to_owned()
        }
    };
    read("password", &text)
}

/// Formats an error for the command line.
fn plain(error: Error) -> anyhow::Error {
    match error {
        Error::Invalid(errors) => {
            let texts: Vec<String> = errors.iter().map(|e| format!("{} {}", e.field, e.message)).collect();
            anyhow!(texts.join("; "))
        }
        other => anyhow!(other.to_string()),
    }
}

pub(crate) async fn run(command: Admin, config: &Config) -> Result<ExitCode> {
    if let Admin::AdoptSecretKey = command {
        let ctx = start::existing(config)?;
        setup::bind_secret_key(&ctx, true).await.map_err(plain)?;
        say("The database is used with this secret key from now on.");
        return Ok(ExitCode::SUCCESS);
    }
    if let Admin::Bootstrap { organization, email, password, name, another, json } = command {
        return bootstrap(config, &organization, &email, password, name, another, json).await;
    }
    let ctx = start::current(config).await?;
    match command {
        Admin::List { json } => list(&ctx, json).await?,
        Admin::RestoreOrganization { organization } => {
            let found = named_organization(&ctx, &organization).await?;
            let restored = organizations::restore(&ctx, found.id).await.map_err(plain)?;
            say(format_args!("{} is back; its people can sign in again.", restored.name));
        }
        Admin::ResetSecondFactor { email } => {
            let email = read::<Email>("email", &email)?;
            second_factors::reset_by_operator(&ctx, &email).await.map_err(plain)?;
            say(format_args!(
                "The second factors of {} are removed; their sessions have ended.",
                email.as_str()
            ));
        }
        Admin::DisableSso { organization } => {
            let found = named_organization(&ctx, &organization).await?;
            match sign_in_policy::disable_sso_by_operator(&ctx, found.id).await.map_err(plain)? {
                true => say(format_args!(
                    "{} no longer requires single sign-on; its owners are told.",
                    found.name
                )),
                false => say(format_args!("{} did not require single sign-on.", found.name)),
            }
        }
        Admin::VerifyDomain { organization, domain } => {
            let found = named_organization(&ctx, &organization).await?;
            let name: DomainName = read("domain", &domain)?;
            mail_domains::verify_by_operator(&ctx, found.id, &name).await.map_err(plain)?;
            say(format_args!("{name} is a verified domain of {}.", found.name));
        }
        Admin::RotateSecretsKey => {
            let count = attestry_app::core::data_key::rotate(&ctx).await.map_err(plain)?;
            say(format_args!("The secrets ({count}) are encrypted under a new key."));
        }
        Admin::CreateApiKey { organization, email, name, scopes, expires_at, json } => {
            let found = named_organization(&ctx, &organization).await?;
            if found.deleted_at.is_some() {
                bail!("{} is deleted; bring it back first: attestry admin restore-organization", found.name);
            }
            let organization = found.id;
            let scopes = if scopes.is_empty() {
                Scopes::All
            } else {
                Scopes::read(scopes.iter().map(String::as_str))
                    .map_err(|message| anyhow!("--scopes: {message}"))?
            };
            let new = NewApiKey {
                name: read::<Name>("name", &name)?.into_string(),
                scopes,
                expires_at: expires_at.map(|text| read::<Time>("expires-at", &text)).transpose()?,
            };
            let email: Email = read("email", &email)?;
            let made = setup::key_by_operator(&ctx, organization, &email, new).await.map_err(plain)?;
            if json {
                say(json!({"id": made.key.id, "apiKey": made.text}));
            } else {
                say(format_args!("API key: {}  (shown only once)", made.text));
            }
        }
        Admin::ResetPassword { email, password: given } => {
            let email: Email = read("email", &email)?;
            passwords::reset_by_operator(&ctx, &email, &password(given)?).await.map_err(plain)?;
            say(format_args!("The password of {} is set; their sessions have ended.", email.as_str()));
        }
        Admin::Bootstrap { .. } | Admin::AdoptSecretKey => {}
    }
    Ok(ExitCode::SUCCESS)
}

/// Creates the installation. This is the only command of this module that creates a database.
async fn bootstrap(
    config: &Config,
    organization: &str,
    email: &str,
    given: Option<String>,
    name: Option<String>,
    another: bool,
    json: bool,
) -> Result<ExitCode> {
    let organization: Name = read("organization", organization)?;
    let email: Email = read("email", email)?;
    let name = name.map(|name| read::<Name>("name", &name)).transpose()?;
    let given = given.map(|text| read::<Password>("password", &text)).transpose()?;
    let ctx = start::migrated(config, None).await?;
    if !another && !setup::is_open(&ctx).await.map_err(plain)? {
        bail!("this installation already has an organization; use --another to add one");
    }
    let password = match (given, setup::has_account(&ctx, &email).await.map_err(plain)?) {
        (Some(_), true) => {
            bail!("{} has an account and keeps its password; leave --password out", email.as_str())
        }
        (None, true) => None,
        (Some(given), false) => Some(given),
        (None, false) => Some(password(None)?),
    };
    let new = NewInstallation { organization, email, password, name };
    let (founded, made) = setup::by_operator(&ctx, new).await.map_err(plain)?;
    if json {
        say(json!({
            "organizationId": founded.organization, "userId": founded.user,
            "memberId": founded.member, "apiKey": made.text,
        }));
    } else {
        say(format_args!("Organization: {}", founded.organization));
        say(format_args!("User:         {}", founded.user));
        say(format_args!("Member:       {}", founded.member));
        say(format_args!("API key:      {}  (shown only once)", made.text));
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(ctx: &Ctx, json: bool) -> Result<()> {
    let mut all = Vec::new();
    for organization in organizations::all(ctx).await.map_err(plain)? {
        let people = members::everybody(ctx, organization.id).await.map_err(plain)?;
        if !json {
            say(title(&organization));
            for Person { member, user } in &people {
                let state = match (member.is_active, user.invited_to) {
                    (true, _) => "",
                    (false, Some(_)) => "  (invited)",
                    (false, None) => "  (inactive)",
                };
                say(format_args!("  {}  {}  {}{state}", user.email, user.name, member.role.as_str()));
            }
        }
        let people: Vec<_> = people
            .iter()
            .map(|Person { member, user }| {
                json!({
                    "memberId": member.id, "userId": user.id, "email": user.email, "name": user.name,
                    "role": member.role.as_str(), "isActive": member.is_active,
                })
            })
            .collect();
        all.push(json!({
            "id": organization.id, "name": organization.name, "deletedAt": organization.deleted_at,
            "removedAt": organization.removed_at, "people": people,
        }));
    }
    if json {
        say(serde_json::Value::Array(all));
    } else if all.is_empty() {
        say("There are no organizations yet.");
    }
    Ok(())
}
