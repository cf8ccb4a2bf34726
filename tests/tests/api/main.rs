//! The API, on SQLite and on PostgreSQL. The files mirror the URL tree.

#![expect(clippy::expect_used, clippy::panic, reason = "test code")]

mod api_keys;
mod archives;
mod assistant;
mod attachments;
mod audit_logs;
mod auth;
mod automations;
mod bulk;
mod chat_channels;
mod comments;
mod controls;
mod conventions;
mod coverage;
mod docs;
mod events;
mod frameworks;
mod idempotency;
mod inbox;
mod known_failures;
mod limits;
mod notices;
mod organization;
mod passkeys;
mod people;
mod policies;
mod portal;
mod portal_documents;
mod programme;
mod registers;
mod risk_criteria;
mod risks;
mod roles;
mod second_factors;
mod setup;
mod sign_in_policy;
mod soa;
mod storage;
mod tasks;
mod trust_access;
mod trust_portal;
mod unavailable;
mod vendors;
mod views;
