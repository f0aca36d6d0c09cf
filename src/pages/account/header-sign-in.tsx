// Sign-in by the header of a proxy.

import type { HeaderSignIn } from '../../accounts/header-sign-in.ts'
import { ProviderError } from '../../accounts/provider-error.ts'
import { PAGES } from '../../http/urls.ts'
import { Contact } from '../frame/brand.tsx'
import { type Guest, leadTo } from '../frame/guest.ts'
import { EmblemCard } from '../frame/parts.tsx'
import type { ProviderPageOptions } from './provider.tsx'
import type { createSignInPages } from './sign-in.tsx'

type HeaderPageOptions = Pick<ProviderPageOptions, 'answer' | 'onRefused'> &
  Pick<ReturnType<typeof createSignInPages>, 'proceed'> & { headerSignIn: HeaderSignIn }

/** Makes the page that signs in the person that the proxy names. */
export function createSignInByHeader({ answer, onRefused, proceed, headerSignIn }: HeaderPageOptions) {
  return async (guest: Guest): Promise<Response> => {
    const { exchange, viewer, say } = guest
    const next = guest.query.get('next') ?? ''
    if (exchange.isHead) return leadTo(guest, PAGES.signIn.href())
    try {
      const { headers } = exchange.request
      const result = await headerSignIn.signIn({ headers, visit: viewer.visit })
      if (result.outcome === 'refused') throw new ProviderError('account_disabled')
      return await proceed(guest, result, next)
    } catch (cause) {
      if (!(cause instanceof ProviderError)) throw cause
      onRefused({ reason: cause.reason, requestId: exchange.requestId })
      const title = say('provider_refused_title')
      const content = (
        <EmblemCard icon="circle-alert" tone="gone" title={title}>
          <p>{say('header_refused')}</p>
          <Contact guest={guest} />
        </EmblemCard>
      )
      return answer(content, { guest, title, status: 403, width: 'narrow' })
    }
  }
}
