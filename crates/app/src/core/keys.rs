//! All cryptography except password hashing. HKDF derives three keys from one secret (a file or a setting): one signs
//! journal heads, one encrypts secrets at rest, one signs links. Random tokens are stored as SHA-256.

use std::sync::Arc;

use attestry_domain::clock::Entropy;
use attestry_domain::hash::{Hash, hex, sha256};
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::hkdf::{HKDF_SHA256, Salt};
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use aws_lc_rs::{constant_time, hmac};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::core::error::Error;

/// The keys of an installation.
#[derive(Clone, Debug)]
pub struct Keys(Arc<Inner>);

struct Inner {
    signer: Ed25519KeyPair,
    signer_id: String,
    cipher: LessSafeKey,
    mac: hmac::Key,
    fingerprint: String,
    entropy: Arc<dyn Entropy>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Keys({})", self.fingerprint)
    }
}

fn derive(secret: &[u8], purpose: &str) -> Result<[u8; 32], Error> {
    let mut key = [0; 32];
    let salt = Salt::new(HKDF_SHA256, b"attestry");
    let material = salt.extract(secret);
    let info = [purpose.as_bytes()];
    let expanded =
        material.expand(&info, HKDF_SHA256).map_err(|_| Error::internal("key derivation failed"))?;
    expanded.fill(&mut key).map_err(|_| Error::internal("key derivation failed"))?;
    Ok(key)
}

/// A fresh secret, with the hash under which it is stored.
#[derive(Clone)]
pub struct Token {
    pub text: String,
    pub hash: Hash,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Keys {
    pub fn new(secret: &[u8], entropy: Arc<dyn Entropy>) -> Result<Self, Error> {
        let seed = derive(secret, "journal signature")?;
        let signer =
            Ed25519KeyPair::from_seed_unchecked(&seed).map_err(|_| Error::internal("no signing key"))?;
        let signer_id = hex(&sha256(signer.public_key().as_ref())[..8]);
        let cipher = UnboundKey::new(&AES_256_GCM, &derive(secret, "secrets at rest")?)
            .map_err(|_| Error::internal("no cipher"))?;
        Ok(Self(Arc::new(Inner {
            signer,
            signer_id,
            cipher: LessSafeKey::new(cipher),
            mac: hmac::Key::new(hmac::HMAC_SHA256, &derive(secret, "links and fingerprints")?),
            fingerprint: hex(&derive(secret, "fingerprint")?[..16]),
            entropy,
        })))
    }

    /// The fingerprint of the secret, which identifies it without revealing it.
    pub fn fingerprint(&self) -> &str {
        &self.0.fingerprint
    }

    /// The id of the key that signs journal heads.
    pub fn signer_id(&self) -> &str {
        &self.0.signer_id
    }

    pub fn public_key(&self) -> &[u8] {
        self.0.signer.public_key().as_ref()
    }

    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.0.signer.sign(message).as_ref().to_vec()
    }

    pub fn is_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, self.public_key()).verify(message, signature).is_ok()
    }

    /// Computes a keyed fingerprint. Without the key its input cannot be found by guessing.
    pub fn mac(&self, parts: &[&[u8]]) -> Hash {
        let mut context = hmac::Context::with_key(&self.0.mac);
        for part in parts {
            context.update(&(part.len() as u64).to_be_bytes());
            context.update(part);
        }
        let mut hash = [0; 32];
        hash.copy_from_slice(context.sign().as_ref());
        hash
    }

    /// Encrypts data that must be read again later. `purpose` binds the ciphertext to its use.
    pub fn seal(&self, purpose: &str, plain: &[u8]) -> Result<Vec<u8>, Error> {
        seal_with(&self.0.cipher, &*self.0.entropy, purpose, plain)
    }

    pub fn open(&self, purpose: &str, sealed: &[u8]) -> Result<Vec<u8>, Error> {
        open_with(&self.0.cipher, purpose, sealed)
    }

    /// Encrypts content into a ticket for a link; only this installation can read it.
    pub(crate) fn ticket<T: Serialize>(&self, purpose: &str, content: &T) -> Result<String, Error> {
        Ok(URL_SAFE_NO_PAD.encode(self.seal(purpose, &serde_json::to_vec(content)?)?))
    }

    /// Decrypts a ticket; `None` if this installation did not create it.
    pub(crate) fn read_ticket<T: DeserializeOwned>(&self, purpose: &str, text: &str) -> Option<T> {
        let sealed = URL_SAFE_NO_PAD.decode(text).ok()?;
        serde_json::from_slice(&self.open(purpose, &sealed).ok()?).ok()
    }

    /// Creates a data key; returns it with its stored form, encrypted with the installation's key.
    pub(crate) fn new_data_key(&self) -> Result<(DataKey, Vec<u8>), Error> {
        let mut key = [0; 32];
        self.0.entropy.fill(&mut key);
        Ok((DataKey::new(&key, &self.0.entropy)?, self.seal(DATA_KEY, &key)?))
    }

    /// Decrypts a stored data key.
    pub(crate) fn data_key(&self, kept: &[u8]) -> Result<DataKey, Error> {
        DataKey::new(&self.open(DATA_KEY, kept)?, &self.0.entropy)
    }

    /// Creates a token of 32 random bytes, base64url-encoded.
    pub fn token(&self) -> Token {
        let mut bytes = [0; 32];
        self.0.entropy.fill(&mut bytes);
        let text = URL_SAFE_NO_PAD.encode(bytes);
        Token { hash: sha256(text.as_bytes()), text }
    }

    /// Creates an API key or a token of the directory: `kind`, 8 public characters, `_` and 43 secret ones. Returns the
    /// public part with it.
    pub fn bearer(&self, kind: &str) -> (String, Token) {
        let public = self.readable::<PUBLIC>();
        let text = format!("{kind}{public}_{}", self.token().text);
        (public, Token { hash: sha256(text.as_bytes()), text })
    }

    /// Creates a code that people copy from paper: 80 random bits in four groups.
    pub(crate) fn code(&self) -> String {
        let text = self.readable::<16>().to_uppercase();
        [&text[..4], &text[4..8], &text[8..12], &text[12..]].join("-")
    }

    /// Creates a recovery code: 50 random bits in two groups.
    pub(crate) fn recovery_code(&self) -> String {
        let text = self.readable::<10>();
        [&text[..5], &text[5..]].join("-")
    }

    /// Fills a buffer with random bytes.
    pub(crate) fn random<const LENGTH: usize>(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        self.0.entropy.fill(&mut bytes);
        bytes
    }

    /// Creates a random string from an alphabet without easily confused characters.
    fn readable<const LENGTH: usize>(&self) -> String {
        const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
        let mut bytes = [0; LENGTH];
        self.0.entropy.fill(&mut bytes);
        bytes.iter().map(|byte| char::from(ALPHABET[usize::from(byte & 31)])).collect()
    }
}

const DATA_KEY: &str = "data key";

/// A key that can be rotated without rotating the installation's key.
pub(crate) struct DataKey {
    cipher: LessSafeKey,
    entropy: Arc<dyn Entropy>,
}

impl DataKey {
    fn new(key: &[u8], entropy: &Arc<dyn Entropy>) -> Result<Self, Error> {
        let cipher = UnboundKey::new(&AES_256_GCM, key).map_err(|_| Error::internal("no cipher"))?;
        Ok(Self { cipher: LessSafeKey::new(cipher), entropy: Arc::clone(entropy) })
    }

    pub(crate) fn seal(&self, purpose: &str, plain: &[u8]) -> Result<Vec<u8>, Error> {
        seal_with(&self.cipher, &*self.entropy, purpose, plain)
    }

    pub(crate) fn open(&self, purpose: &str, sealed: &[u8]) -> Result<Vec<u8>, Error> {
        open_with(&self.cipher, purpose, sealed)
    }
}

fn seal_with(
    cipher: &LessSafeKey,
    entropy: &dyn Entropy,
    purpose: &str,
    plain: &[u8],
) -> Result<Vec<u8>, Error> {
    let mut nonce = [0; NONCE_LEN];
    entropy.fill(&mut nonce);
    let mut sealed = plain.to_vec();
    cipher
        .seal_in_place_append_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(purpose.as_bytes()),
            &mut sealed,
        )
        .map_err(|_| Error::internal("encryption failed"))?;
    Ok([&nonce[..], &sealed[..]].concat())
}

fn open_with(cipher: &LessSafeKey, purpose: &str, sealed: &[u8]) -> Result<Vec<u8>, Error> {
    let wrong =
        || Error::internal("a stored secret cannot be decrypted: was it stored with another secret key?");
    let (nonce, rest) = sealed.split_at_checked(NONCE_LEN).ok_or_else(wrong)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| wrong())?;
    let mut plain = rest.to_vec();
    let length =
        cipher.open_in_place(nonce, Aad::from(purpose.as_bytes()), &mut plain).map_err(|_| wrong())?.len();
    plain.truncate(length);
    Ok(plain)
}

/// The length of the public part of an API key or a token of the directory, and of the secret part.
const PUBLIC: usize = 8;
const SECRET: usize = 43;

/// Returns the public part of an API key or a token of the directory.
pub fn public_part<'t>(kind: &str, text: &'t str) -> Option<&'t str> {
    let (public, secret) = text.strip_prefix(kind)?.split_once('_')?;
    (public.len() == PUBLIC && secret.len() == SECRET).then_some(public)
}

/// Compares secrets in constant time.
pub fn same(a: &[u8], b: &[u8]) -> bool {
    constant_time::verify_slices_are_equal(a, b).is_ok()
}

#[cfg(test)]
mod tests {
    use attestry_domain::clock::SystemEntropy;

    use super::*;

    fn keys(secret: &[u8]) -> Keys {
        Keys::new(secret, Arc::new(SystemEntropy)).unwrap()
    }

    #[test]
    fn sealed_data_opens_only_whole_for_its_purpose_and_with_its_key() {
        let keys = keys(b"one secret");
        let sealed = keys.seal("a purpose", b"plain").unwrap();
        assert_eq!(keys.open("a purpose", &sealed).unwrap(), b"plain");
        assert_ne!(keys.seal("a purpose", b"plain").unwrap(), sealed, "each has a nonce of its own");
        assert!(keys.open("another purpose", &sealed).is_err());
        assert!(self::keys(b"another secret").open("a purpose", &sealed).is_err());
        for length in 0..sealed.len() {
            assert!(keys.open("a purpose", &sealed[..length]).is_err(), "{length} bytes");
        }
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert!(keys.open("a purpose", &changed).is_err(), "byte {place}");
        }
    }

    #[test]
    fn ticket_is_read_only_for_its_purpose() {
        let keys = keys(b"one secret");
        let ticket = keys.ticket("a link", &("file", 7)).unwrap();
        assert_eq!(keys.read_ticket("a link", &ticket), Some(("file".to_owned(), 7)));
        assert_eq!(keys.read_ticket::<(String, u8)>("another link", &ticket), None);
        for foreign in ["", "nonsense", "not base64!", &format!("{ticket}A")] {
            assert_eq!(keys.read_ticket::<(String, u8)>("a link", foreign), None, "{foreign:?}");
        }
    }

    #[test]
    fn mac_depends_on_where_its_parts_end() {
        let keys = keys(b"one secret");
        assert_eq!(keys.mac(&[b"ab", b"c"]), keys.mac(&[b"ab", b"c"]));
        assert_ne!(keys.mac(&[b"ab", b"c"]), keys.mac(&[b"a", b"bc"]));
        assert_ne!(keys.mac(&[b"abc"]), keys.mac(&[b"abc", b""]));
    }

    #[test]
    fn code_is_four_groups_without_similar_characters() {
        let code = keys(b"one secret").code();
        let groups: Vec<_> = code.split('-').collect();
        assert_eq!(groups.iter().map(|group| group.len()).collect::<Vec<_>>(), [4; 4], "{code}");
        assert!(groups.concat().chars().all(|c| c.is_ascii_alphanumeric() && !"01LO".contains(c)), "{code}");
    }

    #[test]
    fn the_public_part_is_read_from_complete_keys_only() {
        let secret = "_".repeat(43);
        assert_eq!(
            public_part("atk_", &format!("atk_k3x9w7ab_{secret}")),
            Some("k3x9w7ab"),
            "base64url has underscores"
        );
        for foreign in [
            String::new(),
            "atk_".to_owned(),
            "atk_k3x9w7ab".to_owned(),
            format!("k3x9w7ab_{secret}"),
            format!("ATK_k3x9w7ab_{secret}"),
            format!("atk_k3x9w7a_{secret}"),
            format!("atk_k3x9w7abc_{secret}"),
            format!("atk_k3x9w7ab_{secret}x"),
            format!("atk_k3x9w7ab_{}", &secret[1..]),
        ] {
            assert_eq!(public_part("atk_", &foreign), None, "{foreign:?}");
        }
    }
}
