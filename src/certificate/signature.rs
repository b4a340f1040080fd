//! Verification of signatures.

use ed25519_dalek::Verifier as _;
use p256::ecdsa::signature::hazmat::PrehashVerifier as _;
use rsa::BoxedUint;
use sha2::{Digest, Sha256, Sha384, Sha512};
use x509_cert::der::asn1::ObjectIdentifier;

use super::key::{ED25519, PublicKey};

/// Whether a certificate is signed by an authority, the best verdict first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    Good,
    /// The algorithm, or the size of the key, is not supported.
    Unsupported,
    Bad,
}

enum Algorithm {
    /// Verifies with a key, a message and its signature.
    Rsa(fn(&rsa::PublicKey, &[u8], &[u8]) -> rsa::Result<()>),
    /// Signs the hash that this function makes.
    Ecdsa(fn(&[u8]) -> Vec<u8>),
    Ed25519,
}

const ALGORITHMS: [(ObjectIdentifier, Algorithm); 7] = [
    (
        oid("1.2.840.113549.1.1.11"),
        Algorithm::Rsa(rsa::PublicKey::pkcs1v15_verify::<Sha256>),
    ),
    (
        oid("1.2.840.113549.1.1.12"),
        Algorithm::Rsa(rsa::PublicKey::pkcs1v15_verify::<Sha384>),
    ),
    (
        oid("1.2.840.113549.1.1.13"),
        Algorithm::Rsa(rsa::PublicKey::pkcs1v15_verify::<Sha512>),
    ),
    (oid("1.2.840.10045.4.3.2"), Algorithm::Ecdsa(hash::<Sha256>)),
    (oid("1.2.840.10045.4.3.3"), Algorithm::Ecdsa(hash::<Sha384>)),
    (oid("1.2.840.10045.4.3.4"), Algorithm::Ecdsa(hash::<Sha512>)),
    (ED25519, Algorithm::Ed25519),
];

const fn oid(text: &str) -> ObjectIdentifier {
    ObjectIdentifier::new_unwrap(text)
}

fn hash<D: Digest>(message: &[u8]) -> Vec<u8> {
    D::digest(message).to_vec()
}

/// Verifies the signature of a message.
pub(super) fn verify(
    key: &PublicKey,
    algorithm: ObjectIdentifier,
    message: &[u8],
    signature: &[u8],
) -> Verdict {
    let Some((_, algorithm)) = ALGORITHMS.iter().find(|(oid, _)| *oid == algorithm) else {
        return Verdict::Unsupported;
    };
    let is_good = match (key, algorithm) {
        (PublicKey::Other(_), _) => return Verdict::Unsupported,
        (PublicKey::Rsa { modulus, exponent }, Algorithm::Rsa(verify)) => {
            let [modulus, exponent] =
                [modulus, exponent].map(|it| BoxedUint::from_be_slice_vartime(it));
            let Ok(key) = rsa::PublicKey::new(modulus, exponent) else {
                return Verdict::Unsupported;
            };
            verify(&key, message, signature).is_ok()
        }
        (PublicKey::P256(key), Algorithm::Ecdsa(hash)) => {
            let key = p256::ecdsa::VerifyingKey::from(key);
            p256::ecdsa::Signature::from_der(signature)
                .is_ok_and(|it| key.verify_prehash(&hash(message), &it).is_ok())
        }
        (PublicKey::P384(key), Algorithm::Ecdsa(hash)) => {
            let key = p384::ecdsa::VerifyingKey::from(key);
            p384::ecdsa::Signature::from_der(signature)
                .is_ok_and(|it| key.verify_prehash(&hash(message), &it).is_ok())
        }
        (PublicKey::Ed25519(key), Algorithm::Ed25519) => {
            ed25519_dalek::VerifyingKey::from_bytes(key)
                .and_then(|key| key.verify(message, &signature.try_into()?))
                .is_ok()
        }
        // A key of one algorithm did not make a signature of another.
        (
            PublicKey::Rsa { .. } | PublicKey::P256(_) | PublicKey::P384(_) | PublicKey::Ed25519(_),
            Algorithm::Rsa(_) | Algorithm::Ecdsa(_) | Algorithm::Ed25519,
        ) => false,
    };
    if is_good { Verdict::Good } else { Verdict::Bad }
}
