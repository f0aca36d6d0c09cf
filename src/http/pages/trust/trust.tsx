// Answers with the trust page: no form and no cookie, because anybody on the network may read and forge it.

import { DomainError } from '../../../domain/errors.ts'
import type { Guest } from '../frame/guest.ts'
import { TrustPage } from './trust-page.tsx'
import type { TrustRoutesOptions } from './trust-routes.ts'

export function createTrustPage({ answer, authority }: Pick<TrustRoutesOptions, 'answer' | 'authority'>) {
  return (guest: Guest): Response => {
    if (authority === null) throw new DomainError('not_found', 'not-found')
    return answer(<TrustPage guest={guest} fingerprint={authority.fingerprint} />, {
      guest,
      title: guest.words.say('trust_page'),
      frame: 'plain',
      languageSwitch: false,
    })
  }
}
