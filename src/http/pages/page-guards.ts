// Makes routes of pages that enforce the guard of their URL before anything else.

import { DomainError, isDomainError } from '../../domain/errors.ts'
import type { Exchange } from '../door/exchange.ts'
import type { Answer, Asked, Route } from '../door/router.ts'
import type { Endpoint } from '../urls.ts'
import type { Confirm } from './account/confirm.tsx'
import { type Form, readForm } from './frame/form.ts'
import { askToSignIn, type GetGuest, type Guest, type Member, requireFormToken } from './frame/guest.ts'

type Params = Asked['params']
type Show<G> = (guest: G, params: Params) => Answer
type Submit<G> = (guest: G, form: Form, params: Params) => Answer

export type PageGuardsOptions = {
  getGuest: GetGuest
  /** Without it only accounts may create. */
  anonymousAccess: boolean
  confirm: Confirm
}

export type PageGuards = ReturnType<typeof createPageGuards>

export function createPageGuards({ getGuest, anonymousAccess, confirm }: PageGuardsOptions) {
  type GuestPage = Endpoint<'GET' | 'POST', 'open' | 'visitor'>

  const guest = (url: GuestPage, show: Show<Guest>): Route => ({
    url,
    answer: async ({ exchange, params }) => admit(url, await getGuest(exchange), params, show),
  })

  function admit(url: GuestPage, visitor: Guest, params: Params, show: Show<Guest>): Answer {
    const mayEnter = url.guard === 'open' || anonymousAccess || visitor.session !== null
    return mayEnter ? show(visitor, params) : askToSignIn(visitor)
  }

  /**
   * For a form that took its sender a while. When the database does not answer, nobody knows who sent it: `refuse` then has to
   * show the form again, and may do nothing else.
   */
  const patientForm = (
    url: Endpoint<'POST', 'open' | 'visitor'>,
    { use, refuse }: { use: Show<Guest>; refuse: (stranger: Guest, cause: DomainError) => Answer },
  ): Route => ({
    url,
    answer: async ({ exchange, params }) => {
      let visitor: Guest
      try {
        visitor = await getGuest(exchange)
      } catch (cause) {
        if (!isDomainError(cause, 'overloaded')) throw cause
        return refuse(getGuest.stranger(exchange), cause)
      }
      return admit(url, visitor, params, use)
    },
  })

  /** A form that needs no session and carries no form token: the door refuses those that another site sent. */
  const guestForm = (url: Endpoint<'POST', 'open' | 'visitor'>, use: Submit<Guest>): Route =>
    guest(url, async (visitor, params) => use(visitor, await readForm(visitor.exchange), params))

  type MemberPage = Endpoint<'GET' | 'POST', 'member' | 'admin'>

  /** Throws `forbidden` if the page needs an administrator and the member is none. */
  async function enter(
    { guard }: MemberPage,
    exchange: Exchange,
    use: (member: Member) => Answer,
  ): Promise<Response> {
    const visitor = await getGuest(exchange)
    const { session } = visitor
    if (session === null) return askToSignIn(visitor)
    const { account } = session
    if (guard === 'admin' && !account.isAdmin)
      throw new DomainError('forbidden', 'This page is for administrators.')
    return use({ ...visitor, session, account })
  }

  const member = (url: MemberPage & { method: 'GET' }, show: Show<Member>): Route => ({
    url,
    answer: ({ exchange, params }) => enter(url, exchange, (found) => show(found, params)),
  })

  /** Checks the guard twice, before and after the form is read, because a session may end while a form arrives. */
  const form = (url: MemberPage & { method: 'POST' }, use: Submit<Member>): Route => ({
    url,
    answer: ({ exchange, params }) =>
      enter(url, exchange, async () => {
        const sent = await readForm(exchange)
        return enter(url, exchange, (found) => {
          requireFormToken(found, sent.text('form'))
          return use(found, sent, params)
        })
      }),
  })

  /** For forms with far-reaching effects: the password must have been confirmed in this session recently. */
  const confirmedForm = (url: MemberPage & { method: 'POST' }, use: Submit<Member>): Route =>
    form(url, async (found, sent, params) => (await confirm(found, sent)) ?? use(found, sent, params))

  return { guest, patientForm, guestForm, member, form, confirmedForm }
}
