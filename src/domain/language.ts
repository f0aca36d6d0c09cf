// The languages of pages and mails.

/** The name of each language in that language, in the order of a menu. */
export const LANGUAGE_NAMES = {
  id: 'Bahasa Indonesia',
  ca: 'Català',
  cy: 'Cymraeg',
  cs: 'Čeština',
  da: 'Dansk',
  de: 'Deutsch',
  en: 'English',
  es: 'Español',
  eu: 'Euskara',
  fr: 'Français',
  ga: 'Gaeilge',
  it: 'Italiano',
  is: 'Íslenska',
  lv: 'Latviešu',
  hu: 'Magyar',
  nl: 'Nederlands',
  nb: 'Norsk bokmål',
  pl: 'Polski',
  'pt-BR': 'Português (Brasil)',
  'pt-PT': 'Português (Portugal)',
  ro: 'Română',
  sk: 'Slovenčina',
  sr: 'Srpski',
  fi: 'Suomi',
  sv: 'Svenska',
  vi: 'Tiếng Việt',
  tr: 'Türkçe',
  el: 'Ελληνικά',
  ru: 'Русский',
  uk: 'Українська',
  he: 'עברית',
  ur: 'اردو',
  ar: 'العربية',
  fa: 'فارسی',
  hi: 'हिन्दी',
  th: 'ไทย',
  ko: '한국어',
  ja: '日本語',
  'zh-Hans': '简体中文',
  'zh-Hant': '繁體中文',
} as const

export type Language = keyof typeof LANGUAGE_NAMES
export const LANGUAGES = Object.keys(LANGUAGE_NAMES) as Language[]

/**
 * Returns the tag by which browsers and Intl know the language. For them, `sr` without a script means
 * Cyrillic.
 */
export const tagOf = (language: Language): string => (language === 'sr' ? 'sr-Latn' : language)

/** Other tags for these languages, including those of Password Pusher. */
const OTHER_TAGS: Record<string, Language> = {
  ...{ no: 'nb', nn: 'nb', iw: 'he', in: 'id', pt: 'pt-BR' },
  ...{ zh: 'zh-Hans', 'zh-tw': 'zh-Hant', 'zh-hk': 'zh-Hant', 'zh-mo': 'zh-Hant' },
}

const BY_TAG = new Map<string, Language>([
  ...Object.entries(OTHER_TAGS),
  ...LANGUAGES.map((language) => [language.toLowerCase(), language] as const),
])

/** The first subtags of the tags that have a language here. */
export const PRIMARY_SUBTAGS = [...new Set([...BY_TAG.keys()].map((tag) => tag.split('-', 1)[0] ?? ''))]

/** A longer tag is no language (RFC 5646, 4.4.1). */
export const MAX_TAG = 35

/**
 * Returns the supported language for a tag (BCP 47), ignoring unknown subtags at its end: `de-AT` is `de`,
 * `zh-Hant-HK` is `zh-Hant`. Returns null for an unsupported language.
 */
export function languageOf(tag: string | null): Language | null {
  if (tag === null || tag.length > MAX_TAG) return null
  const subtags = tag.toLowerCase().split(/[-_]/)
  // Every country except Brazil uses European Portuguese.
  if (subtags[0] === 'pt' && subtags.length > 1 && !subtags.includes('br')) return 'pt-PT'
  for (let length = subtags.length; length > 0; length -= 1) {
    const language = BY_TAG.get(subtags.slice(0, length).join('-'))
    if (language !== undefined) return language
  }
  return null
}
