// Makes controllers of pages, which enforce the guard of their URL first.

import type { HeaderSignIn } from '../accounts/header-sign-in.ts'
import type { CurrentSession, Sessions } from '../accounts/sessions.ts'
import { DomainError, isOutage, type OutageError } from '../domain/errors.ts'
import type { Answer, Handlers } from '../http/door/router.ts'
import { type Endpoint, PAGES } from '../http/urls.ts'
import type { Confirm } from './account/confirm.tsx'
import { type Form, readForm } from './frame/form.ts'
import {
  askToSignIn,
  type GetGuest,
  type Guest,
  leadTo,
  type Member,
  type Params,
  requireFormToken,
} from './frame/guest.ts'

type Show<G> = (guest: G, params: Params) => Answer
type Submit<G> = (guest: G, form: Form, params: Params) => Answer

/** The actions of an account before it has the second factor that the server requires. */
const WITHOUT_SECOND_FACTOR: ReadonlySet<string> = new Set([
  ...[PAGES.twoFactor.path, PAGES.newPasskey.path, PAGES.addPasskey.path, PAGES.signOut.path],
])

type PageGuardsOptions = {
  getGuest: GetGuest
  /** If false, only people with an account may create pushes. */
  anonymousAccess: boolean
  /** Whether an account without a second factor must set one up first. */
  requireSecondFactor: boolean
  confirm: Confirm
  /** Checks the header of --auth-header; null without it. */
  headerSignIn: Pick<HeaderSignIn, 'isStill'> | null
  sessions: Pick<Sessions, 'endSession'>
}

export type PageGuards = ReturnType<typeof createPageGuards>

export function createPageGuards(options: PageGuardsOptions) {
  type GuestPage = Endpoint<'GET' | 'POST', 'open' | 'visitor'>

  const { getGuest, anonymousAccess, requireSecondFactor, confirm, headerSignIn, sessions } = options

  const guest =
    (show: Show<Guest>) =>
    (url: GuestPage): Handlers => ({
      answer: ({ exchange, params }) => {
        const visitor = getGuest(exchange)
        if (visitor instanceof Promise) return visitor.then((found) => admit(url, found, params, show))
        return admit(url, visitor, params, show)
      },
    })

  function admit(url: GuestPage, visitor: Guest, params: Params, show: Show<Guest>): Answer {
    if (url.path === PAGES.create.path && mustSetUp(visitor)) return leadTo(visitor, PAGES.twoFactor.href())
    const mayEnter = url.guard === 'open' || anonymousAccess || visitor.session !== null
    return mayEnter ? show(visitor, params) : askToSignIn(visitor)
  }

  const mustSetUp = ({ session }: Guest) =>
    requireSecondFactor && session?.account.hasTwoFactor === false && !session.session.isMultiFactor

  /**
   * Guards a form that reads its own body. If an outage hides who the sender is, `refuse` shows the form
   * again and must do nothing else.
   */
  const patientForm =
    ({ use, refuse }: { use: Show<Guest>; refuse: (stranger: Guest, cause: OutageError) => Answer }) =>
    (url: Endpoint<'POST', 'open' | 'visitor'>): Handlers => ({
      answer: async ({ exchange, params }) => {
        let visitor: Guest
        try {
          visitor = await getGuest(exchange)
        } catch (cause) {
          if (!isOutage(cause)) throw cause
          return refuse(getGuest.stranger(exchange), cause)
        }
        return admit(url, visitor, params, use)
      },
    })

  /**
   * Guards a form that needs no session and carries no form token. The door refuses cross-site forms (CSRF).
   */
  const guestForm =
    (use: Submit<Guest>) =>
    (url: Endpoint<'POST', 'open' | 'visitor'>): Handlers => ({
      answer: async ({ exchange, params }) =>
        admit(url, await getGuest(exchange), params, async (visitor) =>
          use(visitor, await readForm(exchange), params),
        ),
    })

  /** Whether the proxy still names the person of a session that its header began. */
  const isStillNamed = ({ exchange }: Guest, { session, account }: CurrentSession) =>
    session.via !== 'header' || headerSignIn?.isStill(exchange.request.headers, account) === true

  type MemberPage = Endpoint<'GET' | 'POST', 'member' | 'admin'>

  /** Throws `forbidden` if the page needs an administrator and the member is none. */
  async function enter({ guard, path }: MemberPage, visitor: Guest, use: (member: Member) => Answer) {
    const { session } = visitor
    if (session === null) return askToSignIn(visitor)
    if (!isStillNamed(visitor, session)) {
      await sessions.endSession(session.account, session.session.id)
      return askToSignIn(visitor)
    }
    if (mustSetUp(visitor) && !WITHOUT_SECOND_FACTOR.has(path)) return leadTo(visitor, PAGES.twoFactor.href())
    const { account } = session
    if (guard === 'admin' && !account.isAdmin)
      throw new DomainError('forbidden', 'This page is for administrators.')
    return use({ ...visitor, session, account })
  }

  const member =
    (show: Show<Member>) =>
    (url: MemberPage & { method: 'GET' }): Handlers => ({
      answer: async ({ exchange, params }) =>
        enter(url, await getGuest(exchange), (found) => show(found, params)),
    })

  /** Checks the guard before and after the form is read, because the session may end in between. */
  const form =
    (use: Submit<Member>) =>
    (url: MemberPage & { method: 'POST' }): Handlers => ({
      answer: async ({ exchange, params }) =>
        enter(url, await getGuest(exchange), async () => {
          const sent = await readForm(exchange)
          return enter(url, await getGuest(exchange), (found) => {
            requireFormToken(found, sent.text('form'))
            return use(found, sent, params)
          })
        }),
    })

  /** Guards a form with far-reaching effects: this session must have confirmed its password recently. */
  const confirmedForm = (use: Submit<Member>) =>
    form(async (found, sent, params) => (await confirm(found, sent)) ?? use(found, sent, params))

  return { guest, patientForm, guestForm, member, form, confirmedForm }
}
