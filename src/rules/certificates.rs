//! Certificates and private keys in the outputs of a site, which several rules judge.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::Arc;

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use parking_lot::Mutex;
use smol_str::SmolStr;

use super::{SiteFacts, leftover_placeholder};
use crate::certificate::{BEGIN, Certificate, Item, Verdict, items};
use crate::diagnostic::{Diagnostic, Rule};
use crate::graph::DocId;
use crate::source::{DocKey, Span, Triple, offset};
use crate::system::deckhand::catalog::{AUTHORITY, CERTIFICATE};
use crate::yaml::path::{Location, children};
use crate::yaml::{Node, Value};

/// Maximum number of labels at documents that use a certificate.
const MAX_USES: usize = 4;

/// Maximum number of authorities of one name whose signatures are verified for a certificate.
const MAX_AUTHORITIES: usize = 8;

/// Certificates and private keys in the outputs of a site.
#[derive(Default)]
pub(crate) struct SiteCertificates {
    /// Strings with PEM, each once, however many documents contain it.
    texts: IndexMap<(Span, SmolStr), PemText>,
    /// Strings that are all data of a document.
    whole: BTreeMap<DocId, usize>,
    /// Certificates whose authority the site has.
    issued: Vec<IssuedCertificate>,
    /// Certificates and private keys that belong together, with the place of a key beside its
    /// certificate; `None` for documents of the same name.
    pairs: BTreeMap<[ItemPlace; 2], Option<PemUse>>,
    /// Documents of certificates that contain none.
    pub(super) empty: Vec<DocId>,
    /// Encrypted documents of certificates and private keys.
    encrypted: Vec<DocId>,
}

/// A string with PEM.
struct PemText {
    text: SmolStr,
    at: Span,
    is_secret: bool,
    has_key: bool,
    uses: Vec<PemUse>,
    /// Offsets of the blocks in its source text.
    starts: Vec<u32>,
    items: Arc<[(usize, Item)]>,
}

/// A document that contains a string, and where.
pub(super) type PemUse = (DocId, Location);

/// Place of a certificate or key: index of its string, and its own among those there.
pub(super) type ItemPlace = [usize; 2];

/// A certificate and its place.
type Placed<'c> = (ItemPlace, &'c Certificate);

/// A certificate, and whether its authority signed it.
pub(super) struct IssuedCertificate {
    pub(super) at: ItemPlace,
    pub(super) authority: ItemPlace,
    verdict: Verdict,
}

/// Problem of the path from an authority to a self-signed one.
pub(super) enum PathProblem {
    /// Its certificate does not allow it to sign others.
    NotAnAuthority,
    /// The site does not have its issuer.
    MissingIssuer,
    /// An authority above it allows fewer authorities below.
    TooLong { above: ItemPlace, allowed: u8 },
}

/// Result of a check of a certificate or private key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CertificateMark {
    /// Valid, or not judged by its date.
    Valid,
    Expiring,
    Expired,
    NotYetValid,
    Unreadable,
    Encrypted,
    /// Not compared with its authority or its private key; has another mark, too.
    Unverified,
}

/// Results of a run, with the place and number of each certificate, so that several sites count it once.
#[derive(Clone, Debug, Default)]
pub struct CertificateTally(BTreeSet<(CertificateMark, Span, usize)>);

impl CertificateTally {
    /// Adds those of another site.
    pub(crate) fn add(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    pub(crate) fn count(&self, mark: CertificateMark) -> usize {
        self.0.iter().filter(|(it, ..)| *it == mark).count()
    }

    /// Number of certificates that were read.
    pub(crate) fn checked(&self) -> usize {
        let marks = self.0.iter().map(|(mark, ..)| *mark);
        marks
            .filter(|mark| *mark <= CertificateMark::NotYetValid)
            .count()
    }
}

/// Contents of strings with PEM, and verdicts about their certificates: several sites, and both sides of
/// a comparison, have the same strings.
#[derive(Default)]
pub(crate) struct KnownPem {
    items: Memo<SmolStr, Arc<[(usize, Item)]>>,
    verdicts: Memo<[(SmolStr, usize); 2], Verdict>,
}

struct Memo<K, V>(Mutex<HashMap<K, V, RandomState>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> Memo<K, V> {
    fn get(&self, key: K, make: impl FnOnce() -> V) -> V {
        if let Some(value) = self.0.lock().get(&key) {
            return value.clone();
        }
        let value = make();
        self.0.lock().insert(key, value.clone());
        value
    }
}

impl SiteCertificates {
    /// Reads the certificates of a site, and compares them with their authorities.
    pub(super) fn of(facts: &SiteFacts<'_>) -> Self {
        let mut site = Self::default();
        let outputs = facts.site.iter();
        for (doc, document) in outputs.filter(|(doc, _)| facts.site.is_output(*doc)) {
            let schema = &*document.key.schema;
            let is_of_pki = AUTHORITY.contains(&schema) || CERTIFICATE.contains(&schema);
            if is_of_pki && document.wrapped_encrypted {
                site.encrypted.push(doc);
            } else if let Some(data) = facts.rendered.data(doc) {
                site.read(facts, doc, data);
                let is_certificate = [AUTHORITY[0], CERTIFICATE[0]].contains(&schema);
                let certificate = site.first_of(doc, Item::is_certificate);
                if is_certificate && data.as_str().is_some() && certificate.is_none() {
                    site.empty.push(doc);
                }
            }
        }
        site.pair_documents(facts);
        let certificates = site.certificates();
        site.issued = certificates
            .filter_map(|it| site.issued(facts, it))
            .collect();
        site
    }

    fn read(&mut self, facts: &SiteFacts<'_>, doc: DocId, data: &Node) {
        let mut strings = Vec::new();
        find_pem(data, &mut Location::root(), &mut strings);
        let mut groups: IndexMap<_, Vec<(Location, usize)>> = IndexMap::new();
        for (place, node, text) in strings {
            let entry = self.texts.entry((node.span, text.clone()));
            let index = entry.index();
            let known = entry.or_insert_with(|| {
                let items = facts.pem.items.get(text.clone(), || items(text).into());
                PemText {
                    text: text.clone(),
                    at: node.span,
                    is_secret: false,
                    has_key: items.iter().any(|(_, item)| item.is_key()),
                    uses: Vec::new(),
                    starts: starts(facts.sources.slice(node.span)),
                    items,
                }
            });
            known.is_secret |= node.secret;
            known.uses.push((doc, place.clone()));
            if place.is_root() {
                self.whole.insert(doc, index);
            }
            let group = groups.entry(place.parent()).or_default();
            group.push((place, index));
        }
        for beside in groups.values() {
            let keys = beside
                .iter()
                .filter_map(|(place, text)| Some((place, self.first(*text, Item::is_key)?)));
            let [(place, key)] = keys.collect::<Vec<_>>()[..] else {
                continue;
            };
            let ends = beside
                .iter()
                .filter_map(|(_, text)| self.first(*text, |it| it.certificate().is_some()))
                .filter(|at| {
                    let certificate = self.item(*at).certificate();
                    certificate.is_some_and(|it| !it.is_authority)
                });
            // The one that matches, if there is one.
            if let Some(end) = ends.max_by_key(|at| self.matches([*at, key])) {
                let pair = self.pairs.entry([end, key]);
                pair.or_insert_with(|| Some((doc, place.clone())));
            }
        }
    }

    /// Adds documents of a certificate and of a private key that have the same name.
    fn pair_documents(&mut self, facts: &SiteFacts<'_>) {
        let pair = |doc: &DocId| {
            let Triple { schema, name, .. } = &*facts.document(*doc).key;
            let kinds = [AUTHORITY, CERTIFICATE];
            let [_, of_keys] = kinds.into_iter().find(|[it, _]| **it == **schema)?;
            let certificate = self.first_of(*doc, |it| it.certificate().is_some())?;
            let private = facts.site.output(of_keys, name)?;
            Some(([certificate, self.first_of(private, Item::is_key)?], None))
        };
        let pairs: Vec<_> = self.whole.keys().filter_map(pair).collect();
        self.pairs.extend(pairs);
    }

    /// A certificate with its authority: the one that the catalog declares, or else one of the name
    /// that it gives as its issuer.
    fn issued(&self, facts: &SiteFacts<'_>, issued: Placed<'_>) -> Option<IssuedCertificate> {
        let at = issued.0;
        let declared = self.declared_authority(facts, at);
        let (verdict, authority) = self.authority(facts, issued, declared)?;
        Some(IssuedCertificate {
            at,
            authority,
            verdict,
        })
    }

    /// The best authority in a string, or else among those of the name that a certificate gives as its
    /// issuer, and whether it signed the certificate.
    fn authority(
        &self,
        facts: &SiteFacts<'_>,
        issued: Placed<'_>,
        text: Option<usize>,
    ) -> Option<(Verdict, ItemPlace)> {
        let (at, certificate) = issued;
        let authorities = self.certificates().filter(|(it, authority)| match text {
            Some(text) => it[0] == text,
            None => *it != at && !certificate.is_self_issued() && certificate.names(authority),
        });
        let mut authorities: Vec<_> = authorities.collect();
        // Verdicts about other keys cost nothing.
        authorities.sort_by_key(|(_, authority)| !certificate.may_be_issued_by(authority));
        let tried = authorities.iter().take(MAX_AUTHORITIES);
        let verdicts = tried.map(|it| (self.verdict(facts, issued, *it), it.0));
        let (best, authority) = verdicts.min()?;
        let next = authorities.get(MAX_AUTHORITIES);
        let is_undecided = next.is_some_and(|(_, it)| certificate.may_be_issued_by(it));
        let verdict = match best {
            Verdict::Bad if is_undecided => Verdict::Unsupported,
            Verdict::Good | Verdict::Unsupported | Verdict::Bad => best,
        };
        Some((verdict, authority))
    }

    /// String with the authority that the catalog declares for the first certificate of a document.
    fn declared_authority(&self, facts: &SiteFacts<'_>, at: ItemPlace) -> Option<usize> {
        let mut keys = self.keys(facts, at).filter(|_| at[1] == 0);
        let key = keys.find(|key| *key.schema == *CERTIFICATE[0])?;
        let name = facts.site.catalog.authority_of(&key.name)?;
        let authority = facts.site.output(AUTHORITY[0], name)?;
        self.whole.get(&authority).copied()
    }

    /// Whether the second of two certificates signed the first one.
    fn verdict(
        &self,
        facts: &SiteFacts<'_>,
        (at, certificate): Placed<'_>,
        (above, authority): Placed<'_>,
    ) -> Verdict {
        let texts = [at, above].map(|[text, item]| (self.texts[text].text.clone(), item));
        let verdicts = &facts.pem.verdicts;
        verdicts.get(texts, || certificate.is_issued_by(authority))
    }

    /// Whether a certificate was made for a private key; `None` if that cannot be computed.
    fn matches(&self, [certificate, key]: [ItemPlace; 2]) -> Option<bool> {
        let certificate = self.item(certificate).certificate()?;
        match self.item(key) {
            Item::Key(key) => Some(certificate.has_key(key.as_ref()?)),
            _ => None,
        }
    }

    /// Results of the checks.
    pub(crate) fn tally(&self, facts: &SiteFacts<'_>) -> CertificateTally {
        let at_item = |mark, at: ItemPlace| {
            let text = &self.texts[at[0]];
            (mark, text.at, text.items[at[1]].0)
        };
        let at_document = |mark, doc: &DocId| (mark, facts.document(*doc).span, 0);
        let items = self.places().filter_map(|at| {
            let mark = match self.item(at) {
                Item::Certificate(certificate) => mark(facts, certificate),
                Item::UnreadableCertificate | Item::UnreadableKey => CertificateMark::Unreadable,
                Item::EncryptedKey => CertificateMark::Encrypted,
                Item::Key(_) => return None,
            };
            Some(at_item(mark, at))
        });
        let unsigned = self
            .issued
            .iter()
            .filter(|it| it.verdict == Verdict::Unsupported);
        let unmatched = self
            .pairs
            .keys()
            .filter(|pair| self.matches(**pair).is_none());
        let unverified = unsigned
            .map(|it| it.at)
            .chain(unmatched.map(|pair| pair[0]));
        let unverified = unverified.map(|at| at_item(CertificateMark::Unverified, at));
        let empty = self
            .empty
            .iter()
            .map(|doc| at_document(CertificateMark::Unreadable, doc));
        let encrypted = self.encrypted.iter();
        let encrypted = encrypted.map(|doc| at_document(CertificateMark::Encrypted, doc));
        let documents = empty.chain(encrypted);
        CertificateTally(items.chain(unverified).chain(documents).collect())
    }

    /// All certificates and keys.
    pub(super) fn places(&self) -> impl Iterator<Item = ItemPlace> {
        let texts = self.texts.values().enumerate();
        texts.flat_map(|(text, pem)| (0..pem.items.len()).map(move |item| [text, item]))
    }

    /// All certificates that can be read.
    pub(super) fn certificates(&self) -> impl Iterator<Item = Placed<'_>> {
        self.places()
            .filter_map(|at| Some((at, self.item(at).certificate()?)))
    }

    /// Certificates that another authority than the intended one signed.
    pub(super) fn misissued(&self) -> impl Iterator<Item = &IssuedCertificate> {
        self.issued.iter().filter(|it| it.verdict == Verdict::Bad)
    }

    /// Pairs that do not belong together.
    pub(super) fn mismatches(&self) -> impl Iterator<Item = (&[ItemPlace; 2], &Option<PemUse>)> {
        self.pairs
            .iter()
            .filter(|(pair, _)| self.matches(**pair) == Some(false))
    }

    pub(super) fn item(&self, [text, item]: ItemPlace) -> &Item {
        &self.texts[text].items[item].1
    }

    fn first(&self, text: usize, is_wanted: fn(&Item) -> bool) -> Option<ItemPlace> {
        let item = self.texts[text]
            .items
            .iter()
            .position(|(_, it)| is_wanted(it))?;
        Some([text, item])
    }

    /// The first in a document whose data is a string.
    fn first_of(&self, doc: DocId, is_wanted: fn(&Item) -> bool) -> Option<ItemPlace> {
        self.first(*self.whole.get(&doc)?, is_wanted)
    }

    /// Whether its string is all data of a document of one of these schemas.
    pub(super) fn is_of(&self, facts: &SiteFacts<'_>, at: ItemPlace, schemas: &[&str]) -> bool {
        let mut keys = self.keys(facts, at);
        keys.any(|key| schemas.contains(&&*key.schema))
    }

    /// Keys of the documents whose data is its string.
    fn keys<'f>(
        &self,
        facts: &'f SiteFacts<'_>,
        [text, _]: ItemPlace,
    ) -> impl Iterator<Item = &'f DocKey> {
        let uses = self.texts[text].uses.iter();
        let whole = uses.filter(|(_, place)| place.is_root());
        whole.map(|(doc, _)| &facts.document(*doc).key)
    }

    /// Problem of the path from an authority's certificate to a self-signed one.
    pub(super) fn path_problem(
        &self,
        facts: &SiteFacts<'_>,
        start: Placed<'_>,
    ) -> Option<PathProblem> {
        if !start.1.is_authority {
            return Some(PathProblem::NotAnAuthority);
        }
        let mut current = start;
        for below in 1..=self.texts.len() {
            if current.1.is_self_issued() {
                return None;
            }
            let above = match self.authority(facts, current, None) {
                None => return Some(PathProblem::MissingIssuer),
                Some((Verdict::Good, above)) => above,
                // A signature of another key is reported by its own rule.
                Some((Verdict::Unsupported | Verdict::Bad, _)) => return None,
            };
            let authority = self.item(above).certificate()?;
            let allowed = authority.max_authorities_below;
            if let Some(allowed) = allowed.filter(|allowed| usize::from(*allowed) < below) {
                return Some(PathProblem::TooLong { above, allowed });
            }
            current = (above, authority);
        }
        None
    }

    /// A date of a certificate after some words; empty if its text is secret.
    pub(super) fn date(&self, [text, _]: ItemPlace, words: &str, date: &str) -> String {
        if self.texts[text].is_secret {
            return String::new();
        }
        format!("{words} {date}")
    }

    /// Name of a certificate or key.
    pub(super) fn name(&self, facts: &SiteFacts<'_>, at: ItemPlace, what: &str) -> String {
        format!("the {what} in {}", self.place(facts, at))
    }

    /// Its block, if its string has several, and its document.
    fn place(&self, facts: &SiteFacts<'_>, at: ItemPlace) -> String {
        let PemText { uses, items, .. } = &self.texts[at[0]];
        let block = match items.len() {
            1 => String::new(),
            _ => format!("block {} of ", items[at[1]].0 + 1),
        };
        let owner = self.owner(facts, at);
        let own = uses.iter().find(|(doc, _)| *doc == owner);
        let place = place_name(facts, owner, own.unwrap_or(&uses[0]));
        format!("{block}{place}")
    }

    /// The document that wrote it, or else one that contains it.
    pub(super) fn owner(&self, facts: &SiteFacts<'_>, [text, _]: ItemPlace) -> DocId {
        let text = &self.texts[text];
        let writer = facts.site.document_at(text.at);
        writer.unwrap_or(text.uses[0].0)
    }

    /// Line at which it begins, or its string if that is secret. The line of a string with a private
    /// key may show it, so it is that of its document.
    pub(super) fn line(&self, facts: &SiteFacts<'_>, at: ItemPlace) -> Span {
        let text = &self.texts[at[0]];
        if text.has_key {
            return facts.document(self.owner(facts, at)).name_span;
        }
        let start = text.starts.get(text.items[at[1]].0);
        let start = text.at.start + start.filter(|_| !text.is_secret).unwrap_or(&0);
        facts.first_line(Span::new(text.at.file, start, text.at.end))
    }

    /// Finding at a certificate or key, with the documents that use it.
    pub(super) fn report(
        &self,
        facts: &SiteFacts<'_>,
        rule: &'static Rule,
        at: ItemPlace,
        (message, label): (String, &str),
    ) -> Diagnostic {
        let owner = self.owner(facts, at);
        let mut finding = rule
            .finding(message, self.line(facts, at), label)
            .about(self.place(facts, at))
            .document(&facts.document(owner).key);
        let users = self.texts[at[0]].uses.iter();
        let users = users.filter(|(doc, _)| *doc != owner);
        for (doc, _) in users.clone() {
            finding = finding.document(&facts.document(*doc).key);
        }
        for user in users.clone().take(MAX_USES) {
            let (line, place) = used(facts, user);
            finding = finding.related(line, format!("used in {place}"));
        }
        let count = users.count();
        if count > MAX_USES {
            finding = finding.note(format!("used in {count} places"));
        }
        finding
    }
}

fn starts(text: &str) -> Vec<u32> {
    text.match_indices(BEGIN)
        .map(|(at, _)| offset(at))
        .collect()
}

/// Text that brought a string into a document, and where it is there.
pub(super) fn used(facts: &SiteFacts<'_>, of: &PemUse) -> (Span, String) {
    let (doc, place) = of;
    let brought = leftover_placeholder::brought(facts, *doc, place);
    let line = brought.unwrap_or(facts.document(*doc).name_span);
    (line, place_name(facts, *doc, of))
}

/// Name of a document, after a place in it that may be shown.
fn place_name(facts: &SiteFacts<'_>, named: DocId, (doc, place): &PemUse) -> String {
    let data = facts.rendered.data(*doc).filter(|_| !place.is_root());
    let shown = data.and_then(|data| facts.shown_place(data, place));
    let shown = shown
        .map(|place| format!("`{place}` of "))
        .unwrap_or_default();
    format!("{shown}`{}`", facts.name(named))
}

/// Mark of a certificate for its dates at the time of the check.
pub(super) fn mark(facts: &SiteFacts<'_>, certificate: &Certificate) -> CertificateMark {
    let Some(time) = facts.settings.time else {
        return CertificateMark::Valid;
    };
    let soon = time.plus_days(facts.settings.expiring_days);
    match certificate.validity {
        [_, end] if time.is_after(end) => CertificateMark::Expired,
        [start, _] if time.is_before(start) => CertificateMark::NotYetValid,
        [_, end] if soon.is_after(end) => CertificateMark::Expiring,
        _ => CertificateMark::Valid,
    }
}

/// Finds strings with PEM. Almost no string has a word in capitals, as PEM has.
fn find_pem<'d>(
    node: &'d Node,
    here: &mut Location,
    found: &mut Vec<(Location, &'d Node, &'d SmolStr)>,
) {
    let has_capitals = match &node.value {
        Value::String(text) if text.contains(BEGIN) => {
            found.push((here.clone(), node, text));
            false
        }
        Value::Mapping(mapping) => mapping.size().has_capitals(),
        Value::Sequence(items) => items.size().has_capitals(),
        _ => false,
    };
    for (piece, child) in children(node).filter(|_| has_capitals) {
        here.0.push(piece);
        find_pem(child, here, found);
        here.0.pop();
    }
}
