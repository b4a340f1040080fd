//! X.509 certificates and private keys in PEM, reduced to facts that rules compare. Nothing of a
//! private key is kept but the public key that belongs to it.

mod key;
mod pem;
mod signature;
mod time;

use x509_cert::certificate::{CertificateInner, Raw, Version};
use x509_cert::der::asn1::ObjectIdentifier;
use x509_cert::der::{Decode as _, Header, Reader as _, SliceReader};
use x509_cert::ext::pkix::{
    AuthorityKeyIdentifier, BasicConstraints, KeyUsage, SubjectKeyIdentifier,
};
use x509_cert::name::Name;

use self::key::PublicKey;
pub(crate) use self::pem::BEGIN;
pub(crate) use self::signature::Verdict;
pub use self::time::CheckTime;

/// A PEM block that is a certificate or a private key.
pub(crate) enum Item {
    Certificate(Box<Certificate>),
    /// A private key, by its public key; `None` if that cannot be derived.
    Key(Option<PublicKey>),
    /// A damaged or unsupported certificate.
    UnreadableCertificate,
    /// A damaged private key.
    UnreadableKey,
    /// A private key that is encrypted with a passphrase.
    EncryptedKey,
}

impl Item {
    pub(crate) fn certificate(&self) -> Option<&Certificate> {
        match self {
            Item::Certificate(certificate) => Some(certificate),
            _ => None,
        }
    }

    pub(crate) fn is_certificate(&self) -> bool {
        matches!(self, Item::Certificate(_) | Item::UnreadableCertificate)
    }

    pub(crate) fn is_key(&self) -> bool {
        !self.is_certificate()
    }
}

/// Certificates and private keys in a text, each with the number of [`BEGIN`] before it.
pub(crate) fn items(text: &str) -> Vec<(usize, Item)> {
    let blocks = pem::blocks(text);
    blocks
        .filter_map(|(number, block)| Some((number, item(&block)?)))
        .collect()
}

fn item(block: &pem::Block<'_>) -> Option<Item> {
    Some(match block.label {
        "CERTIFICATE" | "X509 CERTIFICATE" | "TRUSTED CERTIFICATE" => block
            .content()
            .and_then(|content| Certificate::parse(&content))
            .map_or(Item::UnreadableCertificate, |it| {
                Item::Certificate(Box::new(it))
            }),
        "ENCRYPTED PRIVATE KEY" => Item::EncryptedKey,
        "PRIVATE KEY" | "RSA PRIVATE KEY" | "EC PRIVATE KEY" if block.is_encrypted() => {
            Item::EncryptedKey
        }
        label @ ("PRIVATE KEY" | "RSA PRIVATE KEY" | "EC PRIVATE KEY") => block
            .content()
            .and_then(|content| key::private_key(label, &content))
            .unwrap_or(Item::UnreadableKey),
        _ => return None,
    })
}

/// A certificate.
pub(crate) struct Certificate {
    /// First and last second of its validity, since 1970.
    pub(crate) validity: [u64; 2],
    subject: CanonicalName,
    /// The subject in the form of RFC 4514.
    pub(crate) name: String,
    issuer: CanonicalName,
    key: PublicKey,
    subject_key: Option<Vec<u8>>,
    issuer_key: Option<Vec<u8>>,
    /// Whether it may sign certificates.
    pub(crate) is_authority: bool,
    /// Maximum number of authorities below it in a path.
    pub(crate) max_authorities_below: Option<u8>,
    /// The signed part of its encoding, and its signature.
    signed: Vec<u8>,
    algorithm: ObjectIdentifier,
    signature: Vec<u8>,
}

impl Certificate {
    fn parse(content: &[u8]) -> Option<Self> {
        let parsed = CertificateInner::<Raw>::from_der(content).ok()?;
        let tbs = parsed.tbs_certificate();
        let basic = tbs.get_extension::<BasicConstraints>().ok()?;
        let usage = tbs.get_extension::<KeyUsage>().ok()?;
        let subject_key = tbs.get_extension::<SubjectKeyIdentifier>().ok()?;
        let issuer_key = tbs.get_extension::<AuthorityKeyIdentifier>().ok()?;
        let (subject, issuer) = (canonical(tbs.subject()), canonical(tbs.issuer()));
        // As OpenSSL decides it: certificates of version 1 have no extensions.
        let may_sign = usage.as_ref().map(|(_, usage)| usage.key_cert_sign());
        let is_authority = may_sign != Some(false)
            && match &basic {
                Some((_, basic)) => basic.ca,
                None => may_sign == Some(true) || tbs.version() == Version::V1 && subject == issuer,
            };
        let validity = tbs.validity();
        Some(Self {
            validity: [validity.not_before, validity.not_after]
                .map(|time| time.to_unix_duration().as_secs()),
            name: tbs.subject().to_string(),
            subject,
            issuer,
            key: PublicKey::of(tbs.subject_public_key_info())?,
            subject_key: subject_key.map(|(_, key)| key.0.into_bytes().into()),
            issuer_key: issuer_key
                .and_then(|(_, key)| key.key_identifier)
                .map(|key| key.into_bytes().into()),
            is_authority,
            max_authorities_below: basic.and_then(|(_, basic)| basic.path_len_constraint),
            signed: signed_part(content).ok()?.to_vec(),
            algorithm: parsed.signature_algorithm().oid,
            signature: parsed.signature().as_bytes()?.to_vec(),
        })
    }

    /// First and last time of its validity, as text.
    pub(crate) fn dates(&self) -> [String; 2] {
        self.validity.map(time::format)
    }

    /// Whether it names itself as its issuer.
    pub(crate) fn is_self_issued(&self) -> bool {
        self.subject == self.issuer
    }

    /// Whether it names `authority` as its issuer.
    pub(crate) fn names(&self, authority: &Self) -> bool {
        self.issuer == authority.subject
    }

    /// Whether it names `authority` as its issuer, and no other key than that of `authority`.
    pub(crate) fn may_be_issued_by(&self, authority: &Self) -> bool {
        let keys = self.issuer_key.as_ref().zip(authority.subject_key.as_ref());
        self.names(authority) && keys.is_none_or(|(wanted, key)| wanted == key)
    }

    /// Whether `authority` signed it.
    pub(crate) fn is_issued_by(&self, authority: &Self) -> Verdict {
        if !self.may_be_issued_by(authority) {
            return Verdict::Bad;
        }
        let key = &authority.key;
        signature::verify(key, self.algorithm, &self.signed, &self.signature)
    }

    /// Whether it was made for the private key of this public key.
    pub(crate) fn has_key(&self, key: &PublicKey) -> bool {
        self.key == *key
    }
}

/// The part of a certificate that is signed, with its tag.
fn signed_part(content: &[u8]) -> Result<&[u8], x509_cert::der::Error> {
    let mut reader = SliceReader::new(content)?;
    Header::decode(&mut reader)?;
    reader.tlv_bytes()
}

/// A name in the form in which names are compared: attributes without case and repeated spaces.
type CanonicalName = Vec<(ObjectIdentifier, Vec<u8>)>;

fn canonical(name: &Name) -> CanonicalName {
    let attributes = name.iter().map(|attribute| {
        let words = attribute.value.value().split(u8::is_ascii_whitespace);
        let words: Vec<&[u8]> = words.filter(|word| !word.is_empty()).collect();
        (attribute.oid, words.join(&b' ').to_ascii_lowercase())
    });
    attributes.collect()
}
