//! Public keys, from certificates and from private keys.

use p256::pkcs8::{AssociatedOid as _, ObjectIdentifier, PrivateKeyInfoRef};
use x509_cert::der::asn1::{AnyRef, OctetStringRef, UintRef};
use x509_cert::der::{Decode as _, Encode as _};
use x509_cert::spki::SubjectPublicKeyInfoOwned;

use super::Item;

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
pub(super) const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");

/// A public key; two are equal if the same private key belongs to them.
#[derive(PartialEq, Eq)]
pub(crate) enum PublicKey {
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
    },
    P256(p256::PublicKey),
    P384(p384::PublicKey),
    Ed25519([u8; 32]),
    /// Another algorithm, by its encoding.
    Other(Vec<u8>),
}

impl PublicKey {
    /// The key of a certificate; `None` if it is damaged.
    pub(super) fn of(info: &SubjectPublicKeyInfoOwned) -> Option<Self> {
        let key = info.subject_public_key.as_bytes()?;
        let curve = info.algorithm.parameters.as_ref();
        let curve = curve.and_then(|curve| curve.decode_as::<ObjectIdentifier>().ok());
        Some(match (info.algorithm.oid, curve) {
            (RSA, _) => Self::rsa(key, 0)?,
            (EC, None) => return None,
            (EC, Some(p256::NistP256::OID)) => {
                Self::P256(p256::PublicKey::from_sec1_bytes(key).ok()?)
            }
            (EC, Some(p384::NistP384::OID)) => {
                Self::P384(p384::PublicKey::from_sec1_bytes(key).ok()?)
            }
            (ED25519, _) => Self::Ed25519(key.try_into().ok()?),
            _ => Self::Other(info.to_der().ok()?),
        })
    }

    /// The modulus and the exponent in a list of numbers.
    fn rsa(content: &[u8], first: usize) -> Option<Self> {
        let numbers = Vec::<UintRef<'_>>::from_der(content).ok()?;
        let [modulus, exponent] = [first, first + 1].map(|at| numbers.get(at));
        Some(Self::Rsa {
            modulus: modulus?.as_bytes().to_vec(),
            exponent: exponent?.as_bytes().to_vec(),
        })
    }
}

/// A private key under a PEM label; `None` if it is damaged.
pub(super) fn private_key(label: &str, content: &[u8]) -> Option<Item> {
    let (algorithm, key) = match label {
        "RSA PRIVATE KEY" => (RSA, content),
        "EC PRIVATE KEY" => (EC, content),
        _ => {
            let info = PrivateKeyInfoRef::try_from(content).ok()?;
            (info.algorithm.oid, info.private_key.as_bytes())
        }
    };
    let public = match algorithm {
        RSA => Some(PublicKey::rsa(key, 1)?),
        EC => match (
            p256::SecretKey::from_der(content),
            p384::SecretKey::from_der(content),
        ) {
            (Ok(key), _) => Some(PublicKey::P256(key.public_key())),
            (_, Ok(key)) => Some(PublicKey::P384(key.public_key())),
            // Another curve, or damaged.
            (Err(_), Err(_)) => {
                Vec::<AnyRef<'_>>::from_der(content).ok()?;
                None
            }
        },
        ED25519 => {
            let seed = <&OctetStringRef>::from_der(key).ok()?;
            let seed = seed.as_bytes().try_into().ok()?;
            let key = ed25519_dalek::SigningKey::from_bytes(seed).verifying_key();
            Some(PublicKey::Ed25519(key.to_bytes()))
        }
        _ => None,
    };
    Some(Item::Key(public))
}
