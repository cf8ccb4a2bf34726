//! Files with an embedded signature: with the published key, anyone can verify offline that a file is unchanged.
//!
//! The signature is a comment after the end of the PDF, followed by a second pointer to the same cross-reference
//! table, so that every PDF reader opens the file as before. It covers all bytes before the comment.

use attestry_domain::hash::{hex, sha256};
use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::core::error::Error;
use crate::core::keys::Keys;

const MARK: &[u8] = b"%attestry-signature v1 ";
const END: &str = "%%EOF";

/// Returns the message that is signed for a file; it differs from every message signed for a journal.
fn message(content: &[u8]) -> Vec<u8> {
    format!("attestry file v1\n{}\n", hex(&sha256(content))).into_bytes()
}

fn last(content: &[u8], wanted: &[u8]) -> Option<usize> {
    memchr::memmem::rfind(content, wanted)
}

/// Returns the offset of the PDF's cross-reference table.
fn table(content: &[u8]) -> Option<u64> {
    let at = last(content, b"startxref")? + b"startxref".len();
    let text = content.get(at..(at + 32).min(content.len()))?;
    let text: Vec<u8> = text.iter().copied().skip_while(u8::is_ascii_whitespace).collect();
    let digits: Vec<u8> = text.into_iter().take_while(u8::is_ascii_digit).collect();
    std::str::from_utf8(&digits).ok()?.parse().ok()
}

/// Appends a signature to a PDF.
pub(crate) fn sign(keys: &Keys, mut content: Vec<u8>) -> Result<Vec<u8>, Error> {
    let table = table(&content).ok_or_else(|| Error::internal("a PDF without a table of objects"))?;
    if !content.ends_with(b"\n") {
        content.push(b'\n');
    }
    let signature = URL_SAFE_NO_PAD.encode(keys.sign(&message(&content)));
    content.extend_from_slice(MARK);
    let rest = format!("{} {signature}\nstartxref\n{table}\n{END}\n", keys.signer_id());
    content.extend_from_slice(rest.as_bytes());
    Ok(content)
}

/// The result of verifying a signed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Unchanged, and signed with this key.
    Intact { key: String },
    /// Changed after signing, or the signature does not match the key it names.
    Changed,
    /// Signed with an unknown key.
    UnknownKey(String),
    /// Not signed.
    Unsigned,
}

/// Verifies a file against public keys, each with its id.
pub fn check(content: &[u8], keys: &[(String, Vec<u8>)]) -> Verdict {
    let Some(at) = last(content, MARK) else { return Verdict::Unsigned };
    let (signed, trailer) = content.split_at(at);
    let Some(trailer) = std::str::from_utf8(&trailer[MARK.len()..]).ok() else { return Verdict::Changed };
    let Some((line, rest)) = trailer.split_once('\n') else { return Verdict::Changed };
    let Some((key, signature)) = line.split_once(' ') else { return Verdict::Changed };
    // The bytes after the signature are not covered by it, so they must be exactly those that `sign` writes.
    let is_ours = table(signed).is_some_and(|table| rest == format!("startxref\n{table}\n{END}\n"));
    let Some((_, public)) = keys.iter().find(|(known, _)| known == key) else {
        return Verdict::UnknownKey(key.chars().take(64).collect());
    };
    let is_signed = URL_SAFE_NO_PAD.decode(signature).is_ok_and(|signature| {
        UnparsedPublicKey::new(&ED25519, public).verify(&message(signed), &signature).is_ok()
    });
    if is_ours && is_signed { Verdict::Intact { key: key.to_owned() } } else { Verdict::Changed }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use attestry_domain::clock::SystemEntropy;

    use super::*;

    #[test]
    fn a_signed_file_shows_each_change() {
        let keys = Keys::new(&[7; 32], Arc::new(SystemEntropy)).unwrap();
        let known = vec![(keys.signer_id().to_owned(), keys.public_key().to_vec())];
        let plain = b"%PDF-1.7\nxref\ntrailer\nstartxref\n9\n%%EOF".to_vec();
        let signed = sign(&keys, plain.clone()).unwrap();
        assert_eq!(check(&signed, &known), Verdict::Intact { key: keys.signer_id().to_owned() });
        assert_eq!(check(&plain, &known), Verdict::Unsigned);
        assert_eq!(check(&signed, &[]), Verdict::UnknownKey(keys.signer_id().to_owned()));
        for at in 0..signed.len() {
            let mut changed = signed.clone();
            changed[at] ^= 1;
            assert!(!matches!(check(&changed, &known), Verdict::Intact { .. }), "byte {at}");
        }
        let longer = [signed.clone(), b"x".to_vec()].concat();
        assert_eq!(check(&longer, &known), Verdict::Changed);
        let twice = sign(&keys, signed).unwrap();
        assert!(matches!(check(&twice, &known), Verdict::Intact { .. }));
    }
}
