// Connects each URL of a page with its handler, and enforces the guard of the URL first.

import { DomainError } from '../../domain/errors.ts'
import type { Exchange } from '../door/exchange.ts'
import type { Answer, Asked, Route } from '../door/router.ts'
import { type Endpoint, PAGES } from '../urls.ts'
import { type Form, readForm } from './frame/form.ts'
import { askToSignIn, type GetGuest, type Guest, type Member, requireFormToken } from './frame/guest.ts'
import type { Pages } from './pages.ts'

type Params = Asked['params']
type Show<G> = (guest: G, params: Params) => Answer
type Submit<G> = (guest: G, form: Form, params: Params) => Answer

export type PageRoutesOptions = {
  pages: Pages
  getGuest: GetGuest
  /** Without it only accounts may create. */
  anonymousAccess: boolean
}

export function createPageRoutes({ pages, getGuest, anonymousAccess }: PageRoutesOptions): Route[] {
  const guest = (url: Endpoint<'GET' | 'POST', 'open' | 'visitor'>, show: Show<Guest>): Route => ({
    url,
    answer: async ({ exchange, params }) => {
      const visitor = await getGuest(exchange)
      const mayEnter = url.guard === 'open' || anonymousAccess || visitor.session !== null
      return mayEnter ? show(visitor, params) : askToSignIn(visitor)
    },
  })

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

  /** The guard asks twice: before the form is read, and after, because a session may end while a form arrives. */
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

  /** For forms that give power: needs the password, given in this session a moment ago. */
  const confirmed =
    (use: Submit<Member>): Submit<Member> =>
    async (found, sent, params) =>
      (await pages.confirm(found, sent)) ?? use(found, sent, params)

  const { receive, signIn, welcome, create, push, tokens, account, twoFactor, admin } = pages
  return [
    guest(PAGES.receive, receive.show),
    guest(PAGES.receiveStep, receive.show),
    guest(PAGES.reveal, withForm(receive.reveal)),
    guest(PAGES.revealStep, withForm(receive.reveal)),
    guest(PAGES.expire, withForm(receive.expire)),
    guest(PAGES.created, pages.created),

    guest(PAGES.signIn, (visitor) => signIn.show(visitor)),
    // These carry no form token: somebody who signs in again has a session that an older page does not know.
    guest(PAGES.submitSignIn, withForm(signIn.signIn)),
    guest(PAGES.submitCode, withForm(signIn.confirm)),
    guest(PAGES.signUp, welcome.showSignUp),
    guest(PAGES.submitSignUp, withForm(welcome.signUp)),
    guest(PAGES.welcome, welcome.show),
    guest(PAGES.submitWelcome, withForm(welcome.useLink)),

    guest(PAGES.create, (visitor) => create.show(visitor)),
    guest(PAGES.submitCreate, create.create),
    guest(PAGES.previousApi, pages.previousApi),

    member(PAGES.pushes, pages.dashboard),
    member(PAGES.push, push.show),
    form(PAGES.expireOwn, push.expire),
    form(PAGES.unlock, push.unlock),
    member(PAGES.auditCsv, push.exportCsv),
    member(PAGES.auditJson, push.exportJson),

    member(PAGES.tokens, tokens.show),
    form(PAGES.createToken, confirmed(tokens.create)),
    form(PAGES.revokeToken, tokens.revoke),
    member(PAGES.account, account.show),
    form(PAGES.changePassword, account.changePassword),
    form(PAGES.endSession, account.endSession),
    member(PAGES.twoFactor, twoFactor.show),
    form(PAGES.turnOnTwoFactor, confirmed(twoFactor.turnOn)),
    form(PAGES.turnOffTwoFactor, confirmed(twoFactor.turnOff)),
    form(PAGES.signOut, signIn.signOut),

    member(PAGES.admin, admin.show),
    form(PAGES.invite, confirmed(admin.invite)),
    // Takes power away, and is urgent: no password is asked for.
    form(PAGES.withdrawInvitation, admin.withdraw),
    form(PAGES.disableAccount, confirmed(admin.disable)),
    form(PAGES.enableAccount, confirmed(admin.enable)),
    form(PAGES.resetAccount, confirmed(admin.reset)),
    form(PAGES.removeAccount, confirmed(admin.remove)),
  ]
}

/** For forms that need no session: the door refuses those that another site sent. */
function withForm(use: Submit<Guest>): Show<Guest> {
  return async (visitor, params) => use(visitor, await readForm(visitor.exchange), params)
}
