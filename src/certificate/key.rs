//! Public keys, from certificates and from private keys.

use p256::pkcs8::{AssociatedOid as _, ObjectIdentifier, PrivateKeyInfoRef};
use x509_cert::der::asn1::{AnyRef, OctetStringRef, UintRef};
use x509_cert::der::{Decode as _, Encode as _};
use x509_cert::spki::SubjectPublicKeyInfoOwned;

pub(super) const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
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
        let parameters = info.algorithm.parameters.as_ref();
        match info.algorithm.oid {
            RSA => {
                let numbers = Vec::<UintRef<'_>>::from_der(key).ok()?;
                Some(Self::rsa([numbers.first()?, numbers.get(1)?]))
            }
            EC => match parameters?.decode_as::<ObjectIdentifier>().ok()? {
                p256::NistP256::OID => {
                    let key = p256::PublicKey::from_sec1_bytes(key).ok()?;
                    Some(Self::P256(key))
                }
                p384::NistP384::OID => {
                    let key = p384::PublicKey::from_sec1_bytes(key).ok()?;
                    Some(Self::P384(key))
                }
                _ => Some(Self::Other(info.to_der().ok()?)),
            },
            ED25519 => Some(Self::Ed25519(key.try_into().ok()?)),
            _ => Some(Self::Other(info.to_der().ok()?)),
        }
    }

    /// The public key of a private key under a PEM label; `None` if its algorithm is not supported.
    ///
    /// # Errors
    /// If the private key is damaged.
    pub(super) fn of_private(label: &str, content: &[u8]) -> Result<Option<Self>, DamagedKey> {
        match label {
            "RSA PRIVATE KEY" => return Self::of_rsa(content).map(Some).ok_or(DamagedKey),
            "EC PRIVATE KEY" => return Self::of_ec(content),
            _ => {}
        }
        let info = PrivateKeyInfoRef::try_from(content).map_err(|_| DamagedKey)?;
        match info.algorithm.oid {
            RSA => Self::of_rsa(info.private_key.as_bytes())
                .map(Some)
                .ok_or(DamagedKey),
            EC => Self::of_ec(content),
            ED25519 => Self::of_ed25519(info.private_key.as_bytes())
                .map(Some)
                .ok_or(DamagedKey),
            _ => Ok(None),
        }
    }

    fn rsa(numbers: [&UintRef<'_>; 2]) -> Self {
        let [modulus, exponent] = numbers.map(|number| number.as_bytes().to_vec());
        Self::Rsa { modulus, exponent }
    }

    /// The public key in an RSA private key.
    fn of_rsa(content: &[u8]) -> Option<Self> {
        let numbers = Vec::<UintRef<'_>>::from_der(content).ok()?;
        Some(Self::rsa([numbers.get(1)?, numbers.get(2)?]))
    }

    fn of_ed25519(content: &[u8]) -> Option<Self> {
        let seed = <&OctetStringRef>::from_der(content).ok()?;
        let seed = seed.as_bytes().try_into().ok()?;
        let key = ed25519_dalek::SigningKey::from_bytes(seed).verifying_key();
        Some(Self::Ed25519(key.to_bytes()))
    }

    /// The public key of a private key on a supported curve, in SEC1 or PKCS#8.
    fn of_ec(content: &[u8]) -> Result<Option<Self>, DamagedKey> {
        if let Ok(key) = p256::SecretKey::from_der(content) {
            return Ok(Some(Self::P256(key.public_key())));
        }
        if let Ok(key) = p384::SecretKey::from_der(content) {
            return Ok(Some(Self::P384(key.public_key())));
        }
        // Another curve, or damaged.
        Vec::<AnyRef<'_>>::from_der(content)
            .map(|_| None)
            .map_err(|_| DamagedKey)
    }
}

/// A private key that cannot be read.
pub(super) struct DamagedKey;
