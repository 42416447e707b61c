//! What is looked for. Each pattern is made so that an ordinary remark about code does not fall into it: an order must be given as
//! one (`TELL`), and it must be about the reader itself, its rules, secrets to be handed out, or something outside of the change.

use super::Category;
use regex::Regex;
use std::sync::LazyLock;

pub struct Hit {
    pub category: Category,
    pub why: &'static str,
    pub at: usize,
}

/// The beginning of an order. `It sends …` and `do not send …` are none.
const TELL: &str = r"(?:^|[.!?:;\n>*]\s*|\b(?:please|then|now|also|you must|you should|you need to|you have to|kindly|and|next|first|go ahead and|simply|just|instead)[, ]+)";

/// Up to the end of a sentence; a dot inside a name or a path does not end one.
const WITHIN: &str = r"(?:[^.\n]|\.[^\s]){0,80}?";

const SECRETS: &str = r"(?:(?:github|gh|gitlab|api|auth|access|deploy)[_ -]?(?:tokens?|keys?)|secrets?|credentials?|passwords?|environment variables?|env vars?|\.env\b|ssh keys?|private keys?|id_rsa|/etc/passwd|\bprintenv\b)";

/// In the order of WL-86: the first that holds is the one. Names in braces stand for the above. All text is lower case.
const PATTERNS: &[(Category, &str, &[&str])] = &[
    (
        Category::P1,
        "tells its reader to drop what it was told before",
        &[
            r"\b(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,3}?(?:previous|prior|above|earlier|preceding|system|former)\s+(?:\w+\s+)?(?:instructions?|prompts?|directives?)\b",
            r"\b(?:ignore|disregard|forget|abandon)\s+(?:all\s+)?(?:of\s+)?your\s+(?:\w+\s+){0,2}?(?:instructions?|prompts?|directives?|guidelines|programming)\b",
            r"\bset\s+(?:all\s+)?your\s+(?:\w+\s+)?instructions\s+aside\b|\bset\s+aside\s+(?:all\s+)?your\s+(?:\w+\s+)?instructions\b",
            r"\byour\s+(?:new|real|actual|only)\s+(?:task|goal|objective|mission|job)\s+(?:is|are)\s+(?:now\s+)?to\b",
            r"\b(?:ignore|disregard|forget)\s+(?:everything|all(?: of)?(?: that)?|anything)\s+(?:you (?:were|have been|had been|are) (?:told|instructed|given)|said before|above this (?:line|point)|that came before)\b",
            r"\b(?:ignore|disregard|forget)\s+(?:all\s+)?(?:of\s+)?your\s+(?:\w+\s+)?rules\b",
            r"\bignorier\w*\s+(?:sie\s+)?(?:bitte\s+)?(?:alle\s+|sämtliche\s+|die\s+|deine\s+)*(?:vorherigen|bisherigen|vorigen|früheren|obigen)\s+(?:anweisungen|instruktionen|vorgaben|befehle)\b",
            r"\b(?:ignore[zr]?|oublie[zr]?)\s+(?:toutes?\s+)?(?:les|tes|vos)\s+(?:instructions|consignes|directives)\s+(?:précédentes|antérieures|ci-dessus)",
            r"\b(?:ignor[ae]|olvid[ae])\s+(?:todas\s+)?(?:las|tus|sus)\s+(?:instrucciones|órdenes|indicaciones)\s+(?:anteriores|previas)",
            r"\bignor[ea]\s+(?:todas\s+)?(?:as|suas)\s+(?:instruções|ordens)\s+(?:anteriores|prévias)",
            r"(?:игнорируй(?:те)?|забудь(?:те)?)\s+(?:все\s+)?(?:предыдущие|прошлые|прежние)\s+(?:инструкции|указания|команды)",
            r"(?:忽略|无视|忘记|無視して).{0,8}(?:之前|以上|先前|前面|上述|前述).{0,6}(?:指令|指示|说明|提示|命令)",
            r"(?:以前|これまで|上記|前述)の.{0,6}(?:指示|命令|プロンプト).{0,8}(?:無視|忘れ)",
        ],
    ),
    (
        Category::P1,
        "gives its reader another role",
        &[
            r"\byou are now (?:a|an|the|my|in)\s+(?:[\w-]+\s+){0,4}?(?:assistant|agent|ai|bot|administrator|admin|hacker|model|system|root|persona|shell|terminal|developer mode|dan)\b",
            r"\byou are no longer (?:a|an|the|bound by|restricted by|limited by|constrained by)\s+(?:[\w-]+\s+){0,3}?(?:assistant|agent|ai|reviewer|bot|model|rules?|policy|policies|guidelines|restrictions|instructions)\b",
            r"\bfrom now on,?\s+you\s+(?:are|will be|act as|will act as)\s+(?:(?:a|an|the|my)\s+)?(?:[\w-]+\s+){0,3}?(?:assistant|agent|ai|bot|administrator|admin|hacker|model|root|persona|dan)\b",
            r"\byou (?:must|should|will|shall) (?:now )?(?:act|behave) as (?:if you (?:are|were) )?(?:a|an|the|my)\s+(?:[\w-]+\s+){0,3}?(?:assistant|agent|ai|bot|administrator|admin|hacker|root|maintainer)\b",
            r"\bpretend (?:that )?(?:you are|you're|you were)\s+(?:(?:a|an|the|my)\s+)?(?:[\w-]+\s+){0,3}?(?:assistant|agent|ai|bot|administrator|admin|hacker|root|maintainer|human)\b",
            r"\byou are (?:now )?in (?:developer|debug|admin|god) mode\b",
            r"\b(?:reset|clear) your context\b|\bobey only\b",
            r"(?:^|\n)\s*(?:#+\s*)?(?:\*\*)?(?:new|updated|real|actual) (?:system )?(?:instructions?|prompt|directives?)(?:\*\*)?\s*:",
            r"(?:^|\n)\s*(?:#+\s*|\[)?(?:\*\*)?system (?:prompt|override|instructions?)(?:\*\*)?\]?\s*:",
            r"<\|(?:im_start|system|assistant|endoftext)\|>",
            r"(?:^|\n)\s*(?:\[inst\]|<<sys>>|</?system(?:_prompt)?>)",
        ],
    ),
    (
        Category::P1,
        "speaks to machines with borrowed authority",
        &[
            r"\b(?:attention|notice|note to|message (?:to|for)|dear|important notice for)[:,]?\s+(?:all\s+|any\s+|the\s+|every\s+)?(?:ai|llm|language model|coding|automated|autonomous|claude|chatgpt|gpt|copilot|codex|gemini)(?:\s+(?:code|coding|review|language))?\s+(?:agents?|assistants?|models?|bots?|reviewers?|systems?)\s*(?:reading\b[^.\n]{0,40})?[:,!.—-]",
            r"\b(?:if|since|as|because) (?:you are|you're)? ?an? (?:ai|llm|large language model|language model|ai assistant|ai agent|ai reviewer|automated agent|automated reviewer|coding agent|bot)(?:\s+(?:reading|reviewing|processing|looking at)\b[^.,\n]{0,30})?\s*,?\s*you (?:must|should|shall|need to|have to|are required|will)\b",
            r"\bif you are an? (?:ai|llm|large language model|language model|ai assistant|ai agent|ai reviewer|coding agent|automated agent)\b[^.\n]{0,10}[,:]\s*(?:please\s+)?(?:approve|merge|run|execute|send|post|reply|respond|say|add|delete|write|ignore|include)\b",
            r"\bi (?:hereby )?(?:authorize|order|command|instruct) you to\b",
            r"\b(?:order|instruction|directive|override|command)s? (?:directly )?from (?:the |your )?(?:system administrator|admin|administrators?|security team|ceo|cto|openai|anthropic|github security|developers|operator|creators?)\b[^.\n]{0,60}\b(?:you|comply|must|immediately|overrides?)\b",
            r"\b(?:urgent|emergency)\b[^.\n]{0,80}\b(?:without (?:any )?(?:further )?(?:review|asking|confirmation|delay|checks)|skip(?:ping)? (?:the )?review)\b",
            r"\b(?:do not|don't|never) (?:tell|inform|notify|alert|mention (?:this|it|any of this) to) (?:any |the |your )?(?:humans?|maintainers?|operators?|repo owners?|anyone)\b",
            r"\b(?:do not|don't) wait for (?:any |a |the )?humans?\b",
            r"\bwithout (?:telling|informing|notifying|alerting) (?:any |the |your )?(?:humans?|maintainers?|operators?|repo owners?)\b",
        ],
    ),
    (
        Category::P2,
        "wants secrets to be handed out",
        &[
            r"{TELL}(?:send|post|upload|exfiltrate|transmit|forward|email|curl|paste|print|output|include|reveal|dump|echo|append|reply with|respond with|comment with|write|encode|leak)\b{WITHIN}{SECRETS}{WITHIN}(?:\bto\s+[<`]?https?://|\bto (?:me|this (?:url|address|server|endpoint|webhook)|the following (?:url|address|server|endpoint))\b|\bin your (?:reply|response|comment|answer|review)\b|\bas a comment\b)",
            r"\b(?:add|create|write|insert)\b{WITHIN}\b(?:that|which|to)\s+(?:sends?|posts?|uploads?|exfiltrates?|e-?mails?|forwards?)\b{WITHIN}{SECRETS}{WITHIN}\bto\s+[<`]?https?://",
            r"{TELL}(?:cat|read|print|open|dump)\b{WITHIN}(?:{SECRETS}|~/\.(?:aws|ssh|netrc|npmrc))\S*{WITHIN}\b(?:and|then)\s+(?:paste|post|send|include|reply|comment|upload|share)\b",
            r"{TELL}(?:reveal|print|output|show|repeat|display|share|paste|tell me|write out)\s+(?:me\s+)?your\s+(?:\w+\s+){0,2}?(?:system prompt|hidden instructions|hidden prompt|initial prompt|initial instructions)\b",
            r"\b(?:curl|wget|fetch)\b[^\n]{0,120}(?:\$\(?(?:env|cat [^)]*(?:\.env|id_rsa|/etc/passwd))|\$\{?(?:github_token|gh_token|aws_secret\w*|anthropic_api_key|openai_api_key))",
        ],
    ),
    (
        Category::P2,
        "wants something run or done that is not about the change",
        &[
            r"{TELL}(?:run|execute|paste|invoke|do|use|call|open a shell and run)\b[^.\n]{0,60}?\b(?:curl|wget|iwr|invoke-webrequest)\b[^\n|]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b",
            r"\b(?:run|execute)\b[^\n]{0,60}?\b(?:ba|z|da)?sh -c\s+.?\$\((?:curl|wget)\b",
            r"{TELL}(?:run|execute|invoke|call)\b[^.\n]{0,40}\brm -rf\s+(?:/|~|\$home|\*|\.git)",
            r"{TELL}(?:use|call|invoke) your (?:bash|shell|terminal|execute|exec|browser|http|fetch|web|file system|filesystem|write|computer|mcp)\s*(?:[\w-]+\s+)?tools?\s+(?:to|and|with)\b",
            r"{TELL}(?:approve|merge) (?:this|the|that|every|all) (?:\w+\s+)?(?:prs?|pull requests?|mrs?|merge requests?|changes?)\b[^.\n]{0,30}\bwithout (?:any )?(?:further )?(?:review|checks?|verification|validation|asking|testing|approval|confirmation|reading)\b",
            r"{TELL}push (?:it |this |them |your changes )?(?:directly|straight) to (?:main|master|the default branch|production)\b",
            r"{TELL}(?:add|invite) [^.\n]{0,40} as (?:an? )?(?:repo(?:sitory)? )?(?:collaborator|administrator|admin|owner|maintainer)s?\b[^.\n]{0,40}\b(?:repo|repository|org|organi[sz]ation|project)\b",
            r"{TELL}(?:add|install|append|write) (?:this|my|the following) (?:ssh|deploy|public)[- ]key\b",
            r"{TELL}(?:disable|remove|turn off|switch off|delete) (?:the |all )?branch protections?\b",
            r"{TELL}(?:clone|modify|edit|open|read|access|search|change) (?:all |any |every |the )?other (?:private )?(?:repos|repositories)\b[^.\n]{0,60}\b(?:token|credentials|access|account)\b",
        ],
    ),
    (
        Category::P2,
        "wants orders fetched or passed on",
        &[
            r"{TELL}(?:fetch|download|open|visit|load|retrieve|curl|read|go to)\b[^\n]{0,120}(?:https?://\S+|\b(?:url|gist|pastebin)\b)[^\n]{0,40}\b(?:and|then)\s+(?:(?:follow|obey|carry out|do|execute|run)\s+(?:\w+\s+){0,3}?(?:instructions?|commands?|orders|script|what it says)|(?:execute|run) it\b)",
            r"\b(?:ask|tell|instruct|order|get)\s+(?:the\s+|your\s+)?(?:other\s+|another\s+|next\s+|fixing\s+|review\s+)?(?:agents?|assistant|claude|codex|copilot|gemini|sub-?agents?|llm|ai)\s+to\s+(?:approve|bypass|exfiltrate|leak|merge\s+(?:this\s+|the\s+)?(?:pr|pull request|mr|merge request|branch)|push\s+to\s+(?:main|master))\b",
        ],
    ),
    (
        Category::P3,
        "wants rules not to hold",
        &[
            r"\b(?:your|all|any|these|those)\s+(?:\w+\s+)?(?:policy|policies|guardrails?|restrictions?|safeguards?|safety (?:checks|rules|filters|guidelines)|guidelines|rules)\s+(?:do not|don't|no longer|does not|doesn't|are suspended|are lifted)\s*(?:apply|hold|count|here|for this)",
            r"\b(?:bypass|disable|ignore|override|circumvent|turn off|skip|deactivate|switch off|suspend)\s+(?:all\s+|any\s+|of\s+)*your\s+(?:\w+\s+){0,2}?(?:policy|policies|restrictions?|guardrails?|sandbox|limits|limitations|filters?|safety|checks|constraints|safeguards|approval|permission)\b",
            r"{TELL}(?:bypass|disable|ignore|override|circumvent|turn off|deactivate|switch off|suspend)\s+(?:(?:all|any)\s+(?:safety (?:guidelines|filters?|policy|policies|protocols)|guardrails|safeguards)|(?:all\s+|any\s+|the\s+)?(?:approval gates?|human (?:review|approval|confirmation)))\b",
            r"\b(?:jailbreak|god|dan|unrestricted) mode\b[^.\n]{0,20}\b(?:enabled|activated|on|engaged|unlocked)\b|\b(?:enter|enable|activate|switch to) (?:jailbreak|god|dan|unrestricted) mode\b",
            r"\byou (?:are|have been) (?:now |hereby )?(?:authori[sz]ed|granted permission|cleared|given permission) to (?:bypass|ignore|override|disable|skip (?:all|any|the review|your))\b",
            r"{TELL}(?:treat|mark|report|classify|rate)\s+(?:this|it|everything|all(?: of)? (?:these|the|this)|every)\b[^.\n]{0,50}\b(?:safe|clean|trusted|lgtm|no (?:issues|findings))\b[^.\n]{0,30}\b(?:regardless|no matter|without (?:looking|checking|review\w*|reading))\b",
            r"\bpositive reviews? only\b|\bonly (?:give|write|output) (?:a )?positive reviews?\b",
            r"\b(?:always|must|only)\s+(?:say|respond|reply|answer)\s+(?:only\s+)?(?:with\s+)?.?(?:lgtm|no issues|looks good)\b",
            r"\b(?:do not|don't|never)\s+(?:report|flag|mention|raise)\s+(?:any|this|these|the)\s+(?:vulnerabilit\w+|backdoors?|security findings?)\b",
        ],
    ),
];

/// Enough inside of a hidden comment: a machine is named, and something is wanted of it.
const HIDDEN: &[(Category, &str, &[&str])] = &[(
    Category::P4,
    "speaks to machines",
    &[
        r"\b(?:ai|coding|automated|autonomous) (?:agents?|assistants?|models?|reviewers?)\b[^\n]{0,120}\b(?:ignore|disregard|approve|merge|execute|run|send|fetch|exfiltrate|delete|you must|do not|reply|say)\b",
        r"\b(?:llms?|claude|codex|copilot|gemini|chatgpt|language models?)\b[,:]?[^\n]{0,60}\b(?:ignore|disregard|approve|merge this|execute|exfiltrate|you must|send)\b",
        r"\b(?:approve|merge) (?:this|the) (?:pr|pull request|mr|merge request|change)\b",
        r"\b(?:curl|wget)\b[^\n]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b",
    ],
)];

type Compiled = Vec<(Category, &'static str, Vec<Regex>)>;

fn compiled(table: &'static [(Category, &'static str, &'static [&'static str])]) -> Compiled {
    let compile = |pattern: &&str| {
        Regex::new(&pattern.replace("{TELL}", TELL).replace("{SECRETS}", SECRETS).replace("{WITHIN}", WITHIN)).ok()
    };
    table.iter().map(|(category, why, patterns)| (*category, *why, patterns.iter().filter_map(compile).collect())).collect()
}

static PLAIN: LazyLock<Compiled> = LazyLock::new(|| compiled(PATTERNS));
static BEHIND: LazyLock<Compiled> = LazyLock::new(|| compiled(HIDDEN));

/// The first that holds in a text in lower case.
pub fn find(lower: &str) -> Option<Hit> {
    first(PLAIN.iter(), lower)
}

/// The same, in these categories only.
pub fn find_among(lower: &str, categories: &[Category]) -> Option<Hit> {
    first(PLAIN.iter().filter(|(category, ..)| categories.contains(category)), lower)
}

/// The same, for words that no reader was meant to see.
pub fn find_hidden(lower: &str) -> Option<Hit> {
    first(BEHIND.iter(), lower)
}

fn first<'a>(mut table: impl Iterator<Item = &'a (Category, &'static str, Vec<Regex>)>, lower: &str) -> Option<Hit> {
    table.find_map(|(category, why, patterns)| {
        let at = patterns.iter().filter_map(|pattern| pattern.find(lower)).map(|hit| hit.start()).min()?;
        Some(Hit { category: *category, why, at })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pattern that does not compile would be one that never hits.
    #[test]
    fn every_pattern_compiles() {
        for (table, compiled) in [(PATTERNS, &PLAIN), (HIDDEN, &BEHIND)] {
            for ((_, why, patterns), (_, _, made)) in table.iter().zip(compiled.iter()) {
                assert_eq!(patterns.len(), made.len(), "{why}");
            }
        }
    }
}
