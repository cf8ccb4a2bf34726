//! `attestry admin`: what an operator does without a browser.

use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use attestry_app::setup::{self, NewInstallation};
use attestry_app::{Error, passwords};
use attestry_domain::Parse;
use attestry_domain::Time;
use attestry_domain::api_keys::{NewApiKey, Scopes};
use attestry_domain::id::OrganizationId;
use attestry_domain::text::{Email, Name, Password};
use clap::Subcommand;
use serde_json::json;

use super::say;
use crate::config::Config;
use crate::start;

#[derive(Debug, Subcommand)]
pub(crate) enum Admin {
    /// Make an organization, its owner and an API key
    Bootstrap {
        /// The organization's name
        #[arg(long)]
        organization: String,
        /// The owner's e-mail address; a user who exists becomes an owner and keeps their password
        #[arg(long)]
        email: String,
        /// The owner's password; without it, it is asked for on standard input
        #[arg(long)]
        password: Option<String>,
        /// The owner's name
        #[arg(long)]
        name: Option<String>,
        /// Answer as JSON
        #[arg(long)]
        json: bool,
    },
    /// Make an API key that acts as a member
    CreateApiKey {
        /// The organization's id
        #[arg(long)]
        organization: String,
        /// The member's e-mail address
        #[arg(long)]
        email: String,
        /// What the key is for
        #[arg(long, default_value = "command line")]
        name: String,
        /// What it may do; all that the member may, if left out
        #[arg(long, value_delimiter = ',')]
        scopes: Vec<String>,
        /// When it stops working (RFC 3339)
        #[arg(long)]
        expires_at: Option<String>,
        /// Answer as JSON
        #[arg(long)]
        json: bool,
    },
    /// Set a user's password and end their sessions
    ResetPassword {
        /// The user's e-mail address
        #[arg(long)]
        email: String,
        /// The new password; without it, it is asked for on standard input
        #[arg(long)]
        password: Option<String>,
    },
    /// Use the present secret key from now on, although the database was made with another
    AdoptSecretKey,
}

fn read<T: Parse>(flag: &str, text: &str) -> Result<T> {
    T::parse(text).map_err(|message| anyhow!("--{flag} {message}"))
}

fn password(given: Option<String>) -> Result<Password> {
    let text = match given {
        Some(text) => text,
        None => {
            say("Password:");
            let mut line = String::new();
            std::io::stdin().read_line(&mut line).context("no password on standard input")?;
            line.trim_end_matches(['\r', '\n']).to_owned()
        }
    };
    read("password", &text)
}

/// The words of an error for whoever runs a command.
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
    let ctx = start::migrated(config).await?;
    match command {
        Admin::Bootstrap { organization, email, password: given, name, json } => {
            let new = NewInstallation {
                organization: read("organization", &organization)?,
                email: read("email", &email)?,
                password: password(given)?,
                name: name.map(|name| read::<Name>("name", &name)).transpose()?,
            };
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
                say(format_args!("API key:      {}  (shown this once)", made.text));
            }
        }
        Admin::CreateApiKey { organization, email, name, scopes, expires_at, json } => {
            let organization: OrganizationId = read("organization", &organization)?;
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
                say(format_args!("API key: {}  (shown this once)", made.text));
            }
        }
        Admin::ResetPassword { email, password: given } => {
            let email: Email = read("email", &email)?;
            passwords::reset_by_operator(&ctx, &email, &password(given)?).await.map_err(plain)?;
            say(format_args!("The password of {} is set; their sessions have ended.", email.as_str()));
        }
        Admin::AdoptSecretKey => {}
    }
    Ok(ExitCode::SUCCESS)
}
