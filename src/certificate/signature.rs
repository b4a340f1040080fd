//! Verification of signatures.

use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use crypto_bigint::{BoxedUint, Odd};
use ed25519_dalek::Verifier as _;
use p256::ecdsa::signature::hazmat::PrehashVerifier as _;
use sha2::{Digest as _, Sha256, Sha384, Sha512};
use x509_cert::der::asn1::ObjectIdentifier;

use super::key::{ED25519, PublicKey};

/// Whether a certificate is signed by an authority, the best verdict first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    Good,
    /// The algorithm is not supported.
    Unsupported,
    Bad,
}

/// Kinds of keys that make signatures.
#[derive(PartialEq, Eq)]
enum KeyKind {
    Rsa,
    Ec,
}

/// Algorithms that sign a hash.
const HASHED: [(ObjectIdentifier, KeyKind, Hash); 6] = [
    (oid("1.2.840.113549.1.1.11"), KeyKind::Rsa, Hash::Sha256),
    (oid("1.2.840.113549.1.1.12"), KeyKind::Rsa, Hash::Sha384),
    (oid("1.2.840.113549.1.1.13"), KeyKind::Rsa, Hash::Sha512),
    (oid("1.2.840.10045.4.3.2"), KeyKind::Ec, Hash::Sha256),
    (oid("1.2.840.10045.4.3.3"), KeyKind::Ec, Hash::Sha384),
    (oid("1.2.840.10045.4.3.4"), KeyKind::Ec, Hash::Sha512),
];

const fn oid(text: &str) -> ObjectIdentifier {
    ObjectIdentifier::new_unwrap(text)
}

#[derive(Clone, Copy)]
enum Hash {
    Sha256,
    Sha384,
    Sha512,
}

impl Hash {
    fn of(self, message: &[u8]) -> Vec<u8> {
        match self {
            Hash::Sha256 => Sha256::digest(message).to_vec(),
            Hash::Sha384 => Sha384::digest(message).to_vec(),
            Hash::Sha512 => Sha512::digest(message).to_vec(),
        }
    }

    /// Last byte of its object identifier.
    fn number(self) -> u8 {
        match self {
            Hash::Sha256 => 1,
            Hash::Sha384 => 2,
            Hash::Sha512 => 3,
        }
    }
}

/// Verifies the signature of a message.
pub(super) fn verify(
    key: &PublicKey,
    algorithm: ObjectIdentifier,
    message: &[u8],
    signature: &[u8],
) -> Verdict {
    let hashed = HASHED.iter().find(|(oid, ..)| algorithm == *oid);
    let is_ed25519 = algorithm == ED25519;
    let is_good = match (key, hashed) {
        (PublicKey::Rsa { modulus, exponent }, Some((_, KeyKind::Rsa, hash))) => {
            // Larger numbers, which OpenSSL refuses too, would take seconds.
            if modulus.len() > MAX_MODULUS_BYTES || exponent.len() > MAX_EXPONENT_BYTES {
                return Verdict::Unsupported;
            }
            is_rsa([modulus, exponent], *hash, message, signature)
        }
        (PublicKey::P256(key), Some((_, KeyKind::Ec, hash))) => {
            p256::ecdsa::Signature::from_der(signature).is_ok_and(|signature| {
                let key = p256::ecdsa::VerifyingKey::from(key);
                key.verify_prehash(&hash.of(message), &signature).is_ok()
            })
        }
        (PublicKey::P384(key), Some((_, KeyKind::Ec, hash))) => {
            p384::ecdsa::Signature::from_der(signature).is_ok_and(|signature| {
                let key = p384::ecdsa::VerifyingKey::from(key);
                key.verify_prehash(&hash.of(message), &signature).is_ok()
            })
        }
        (PublicKey::Ed25519(key), None) if is_ed25519 => {
            let key = ed25519_dalek::VerifyingKey::from_bytes(key);
            let signature = ed25519_dalek::Signature::from_slice(signature);
            key.is_ok_and(|key| signature.is_ok_and(|it| key.verify(message, &it).is_ok()))
        }
        (PublicKey::Other(_), _) => return Verdict::Unsupported,
        (_, None) if !is_ed25519 => return Verdict::Unsupported,
        // A key of one algorithm did not make a signature of another.
        (
            PublicKey::Rsa { .. } | PublicKey::P256(_) | PublicKey::P384(_) | PublicKey::Ed25519(_),
            _,
        ) => false,
    };
    if is_good { Verdict::Good } else { Verdict::Bad }
}

const MAX_MODULUS_BYTES: usize = 2048;
const MAX_EXPONENT_BYTES: usize = 8;

/// RSASSA-PKCS1-v1_5 (RFC 8017, 8.2.2): the power of the signature is the padded hash.
fn is_rsa(key: [&Vec<u8>; 2], hash: Hash, message: &[u8], signature: &[u8]) -> bool {
    let length = key[0].len();
    let hashed = hash.of(message);
    let size = u8::try_from(hashed.len()).expect("a hash is short");
    let mut expected = vec![0x30, size + 17, 0x30, 13, 6, 9];
    expected.extend([0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, hash.number()]);
    expected.extend([5, 0, 4, size]);
    expected.extend(hashed);
    // At least eight bytes of padding, and the three around it.
    let Some(padding) = length.checked_sub(expected.len() + 3).filter(|it| *it >= 8) else {
        return false;
    };
    let padded = [vec![0, 1], vec![0xff; padding], vec![0], expected].concat();
    signature.len() == length
        && raised(signature, key).is_some_and(|power| power == number(&padded))
}

/// The signature, raised to the exponent of the key modulo its modulus; `None` if that has no meaning.
/// The exponent is public and small, so tables and equal times would cost for nothing.
fn raised(signature: &[u8], [modulus, exponent]: [&Vec<u8>; 2]) -> Option<BoxedUint> {
    let base = number(signature);
    let modulus = number(modulus);
    if base >= modulus {
        return None;
    }
    let modulus = BoxedMontyParams::new_vartime(Odd::new(modulus).into_option()?);
    let exponent = number(exponent);
    let base = BoxedMontyForm::new(base, &modulus);
    let bits = exponent.bit_width_vartime().checked_sub(1)?;
    let power = (0..bits).rev().fold(base.clone(), |power, bit| {
        let square = power.square();
        if exponent.bit_vartime(bit) {
            square * &base
        } else {
            square
        }
    });
    (bits > 0).then(|| power.retrieve())
}

fn number(bytes: &[u8]) -> BoxedUint {
    BoxedUint::from_be_slice_vartime(bytes)
}
