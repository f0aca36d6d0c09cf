// The languages of pages and mails.

export const LANGUAGES = ['en', 'de', 'fr', 'es', 'ja', 'ar'] as const
export type Language = (typeof LANGUAGES)[number]

/** Returns the supported language of a tag (BCP 47), ignoring its country; null for any other. */
export function languageOf(tag: string | null): Language | null {
  if (tag === null) return null
  const primary = tag.toLowerCase().split('-', 1)[0]
  return LANGUAGES.find((language) => language === primary) ?? null
}
