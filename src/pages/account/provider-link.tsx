// The button that leads to the OpenID provider, and the part of the account page about it.

import type { ProviderSignIn } from '../../accounts/provider-sign-in.ts'
import { PAGES } from '../../http/urls.ts'
import type { Guest, Member } from '../frame/guest.ts'
import { Card } from '../frame/parts.tsx'
import { ButtonForm } from '../frame/post-form.tsx'

/** The provider of --oidc-issuer, as pages show it. */
export type ShownProvider = { name: string; signIn: ProviderSignIn }

type ProviderLinkProps = {
  guest: Guest
  provider: ShownProvider
  /** The purpose of the visit to the provider; absent for a sign-in that continues at `next`. */
  visit?: Parameters<ProviderSignIn['issueTicket']>[0]
  next?: string
  label?: string
}

/**
 * The button that leads to the provider. A link, because a policy of the pages forbids forms that lead to
 * another server.
 */
export function ProviderLink({ guest, provider, visit, next = '', label }: ProviderLinkProps) {
  const query = new URLSearchParams(
    visit === undefined ? (next === '' ? {} : { next }) : { ticket: provider.signIn.issueTicket(visit) },
  )
  const path = `${PAGES.startProvider.href()}${query.size === 0 ? '' : `?${query}`}`
  return (
    <p>
      <a class="button" href={guest.href(path)} rel="nofollow">
        {label ?? guest.say('provider_sign_in', { name: provider.name })}
      </a>
    </p>
  )
}

type ProviderCardProps = { guest: Member; provider: ShownProvider; isLinked: boolean }

/** Whether the account is linked to a person at the provider, with the button that changes it. */
export function ProviderCard({ guest, provider: { name, signIn }, isLinked }: ProviderCardProps) {
  const { say } = guest
  const action = (isLinked ? PAGES.unlinkProvider : PAGES.linkProvider).href()
  if (!signIn.isOpenTo(guest.account)) return null
  return (
    <Card id="provider" title={say('provider_title', { name })}>
      <p>{say(isLinked ? 'provider_linked' : 'provider_not_linked', { name })}</p>
      {guest.account.hasPassword && (
        <ButtonForm {...{ guest, action }} label={say(isLinked ? 'provider_unlink' : 'provider_link')} />
      )}
    </Card>
  )
}
