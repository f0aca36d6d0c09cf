// What the previous version of the API tells of this instance.

import type { AnswerBody } from '../answer-tables.ts'
import type { VersionFacts } from '../version.ts'

export const PREVIOUS_API_VERSION = '1.5'

export function presentPreviousVersion({ applicationVersion }: VersionFacts): AnswerBody<'PreviousVersion'> {
  return { application_version: applicationVersion, api_version: PREVIOUS_API_VERSION, edition: 'oss' }
}
