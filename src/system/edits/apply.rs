//! Documents of a site with a subset of the edits applied.

use super::order::DocumentRank;
use super::{DocumentPair, Edits, Located, Membership, SitePair};
use crate::edit::EditId;
use crate::source::RepoPath;
use crate::system::Written;
use crate::system::cloud_init::part::CloudPart;
use crate::system::deckhand::document::Document;
use crate::system::deckhand::known::KnownTexts;
use crate::system::deckhand::read::revised;
use crate::yaml::diff::DiffSide;

impl<'a> Edits<'a> {
    /// Files of a site with the `chosen` edits applied; `None` if the site does not exist then.
    pub(crate) fn membership<'s>(
        &self,
        site: &'s SitePair<'a>,
        chosen: &dyn Fn(EditId) -> bool,
    ) -> Option<&'s Membership> {
        if site.definition.iter().any(|edit| chosen(*edit)) {
            site.head.as_ref()
        } else {
            site.base.as_ref()
        }
    }

    /// Documents of a site with the `chosen` edits applied, each with its file, in the order in
    /// which they count.
    pub fn apply(
        &self,
        site: &SitePair<'a>,
        chosen: &dyn Fn(EditId) -> bool,
        known: &mut KnownTexts,
    ) -> Vec<(&'a RepoPath, DocumentVersion<'a>)> {
        let Some(membership) = self.membership(site, chosen) else {
            return Vec::new();
        };
        let mut versions: Vec<(DocumentRank, &'a RepoPath, DocumentVersion<'a>)> = site
            .unedited
            .iter()
            .filter(|located| membership.has(located))
            .map(|located| {
                (
                    DocumentRank::of(located),
                    located.path,
                    DocumentVersion::Written(located.document),
                )
            })
            .collect();
        let edited = self.pairs.iter().filter_map(|pair| {
            let (located, version) = pair.version(chosen, known)?;
            let [without, with] = &pair.ranks;
            let rank = if pair.whole.is_some_and(chosen) {
                with
            } else {
                without
            };
            membership
                .has(&located)
                .then(|| (rank.clone(), located.path, version))
        });
        versions.extend(edited);
        let rank = |rank: &DocumentRank| membership.rank(rank.repository);
        versions.sort_by(|(one, ..), (other, ..)| {
            rank(one).cmp(&rank(other)).then_with(|| one.cmp(other))
        });
        versions
            .into_iter()
            .map(|(_, path, version)| (path, version))
            .collect()
    }
}

/// A document with a subset of its edits applied.
pub enum DocumentVersion<'a> {
    /// The source document of one of the sides.
    Written(Written<'a>),
    /// A Deckhand document with some of its edits applied.
    Revised(Box<Document>),
    /// A cloud-init part with some of its edits applied.
    RevisedPart(Box<CloudPart>),
}

impl DocumentVersion<'_> {
    /// The document.
    pub fn document(&self) -> Written<'_> {
        match self {
            DocumentVersion::Written(document) => *document,
            DocumentVersion::Revised(document) => Written::Deckhand(document),
            DocumentVersion::RevisedPart(part) => Written::Part(part),
        }
    }
}

impl<'a> DocumentPair<'a> {
    /// The document with the `chosen` edits applied, and its location then.
    fn version(
        &self,
        chosen: &dyn Fn(EditId) -> bool,
        known: &mut KnownTexts,
    ) -> Option<(Located<'a>, DocumentVersion<'a>)> {
        let whole = self.whole.is_some_and(chosen);
        let (base, head) = match (&self.base, &self.head) {
            (Some(base), Some(head)) => (base, head),
            (Some(only), None) => {
                return (!whole).then_some((*only, DocumentVersion::Written(only.document)));
            }
            (None, only) => {
                let only = only.as_ref().filter(|_| whole)?;
                return Some((*only, DocumentVersion::Written(only.document)));
            }
        };
        let taken = self.parts.iter().filter(|edit| chosen(**edit)).count();
        let place = if whole { head } else { base };
        let version = if taken == self.parts.len() && (taken > 0 || whole) {
            DocumentVersion::Written(head.document)
        } else if taken == 0 {
            DocumentVersion::Written(base.document)
        } else {
            let mut edits = self.parts.iter();
            let root = self.variants.as_ref()?.with(|| {
                let edit = *edits.next().expect("each difference has an edit");
                if chosen(edit) {
                    DiffSide::Head
                } else {
                    DiffSide::Base
                }
            });
            match base.document {
                Written::Deckhand(base) => {
                    DocumentVersion::Revised(Box::new(revised(base, root, known)))
                }
                Written::Part(base) => {
                    let head = head
                        .document
                        .part()
                        .expect("documents are paired within a system");
                    DocumentVersion::RevisedPart(Box::new(CloudPart::revised(base, head, &root)))
                }
            }
        };
        Some((*place, version))
    }
}
