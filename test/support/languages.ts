// Languages for tests of more than texts: both directions, all kinds of plurals, several scripts.

import type { Language } from '../../src/domain/language.ts'

export const SOME_LANGUAGES: readonly Language[] = ['en', 'de', 'fr', 'es', 'ja', 'ar', 'pl', 'pt-BR', 'th']
