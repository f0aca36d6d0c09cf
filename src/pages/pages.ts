// The table of pages: the guard and the handler of each URL. A URL without them does not compile.

import type { Sessions } from '../accounts/sessions.ts'
import { type Handlers, open, type Route, routesOf } from '../http/door/router.ts'
import { PAGES } from '../http/urls.ts'
import { type AccountPageOptions, createAccountPages } from './account/account.tsx'
import { createConfirm } from './account/confirm.tsx'
import { createSignInByHeader } from './account/header-sign-in.tsx'
import { createMessagePages, type MessagePageOptions } from './account/message.tsx'
import { createNoticePages, type NoticePageOptions } from './account/notices.tsx'
import { createPasskeyPages, createPasskeySignIn, type PasskeyPageOptions } from './account/passkeys.tsx'
import { createProviderPages, type ProviderPageOptions } from './account/provider.tsx'
import { createSignInPages, type SignInPageOptions } from './account/sign-in.tsx'
import { createTokenPages, type TokenPageOptions } from './account/tokens.tsx'
import { createTwoFactorPages } from './account/two-factor.tsx'
import { createWelcomePages, type WelcomePageOptions } from './account/welcome.tsx'
import { type AdminPageOptions, createAdminPages } from './admin/admin.tsx'
import { type BackUpOptions, createBackUp } from './admin/backups.tsx'
import { createShowFirstSteps, type FirstStepsOptions } from './admin/first-steps.tsx'
import { type AcceptClock, createAcceptClock } from './admin/health.tsx'
import { readForm } from './frame/form.ts'
import type { GetGuest } from './frame/guest.ts'
import type { AnswerGuest } from './frame/page.tsx'
import { createDashboard, type DashboardOptions } from './owner/dashboard.tsx'
import { createExports, type ExportOptions } from './owner/exports.ts'
import { createPushPages, type PushPageOptions } from './owner/push-page.tsx'
import { createPageGuards, type PageGuards } from './page-guards.ts'
import { createReceivePages, type ReceivePageOptions } from './receive/receive.tsx'
import { type AnswerPagesOptions, createAnswerPages } from './requests/answer.tsx'
import { createRequestPages, type RequestPagesOptions } from './requests/requests.tsx'
import { type CreatePageOptions, createCreatePage } from './share/create/create.tsx'
import { createShowForm } from './share/create/create-page.tsx'
import { type CreatedPageOptions, createCreatedPage } from './share/created.tsx'
import { createTrustPage, type TrustPageOptions } from './trust/trust-page.tsx'

type PagesOptions = ReceivePageOptions &
  CreatePageOptions &
  CreatedPageOptions &
  DashboardOptions &
  Omit<PushPageOptions, 'showShared'> &
  AccountPageOptions &
  ExportOptions &
  MessagePageOptions &
  SignInPageOptions &
  ProviderPageOptions &
  PasskeyPageOptions &
  TokenPageOptions &
  NoticePageOptions &
  Omit<WelcomePageOptions, 'enterAfter'> &
  AdminPageOptions &
  FirstStepsOptions &
  BackUpOptions &
  RequestPagesOptions &
  AnswerPagesOptions &
  TrustPageOptions & {
    /** Answers the reference of API version 1. */
    answerPreviousApi: Handlers['answer']
    acceptClock: AcceptClock
    answer: AnswerGuest
    getGuest: GetGuest
    sessions: Sessions
    /** If false, only people with an account may create pushes. */
    anonymousAccess: boolean
    requireSecondFactor: boolean
  }

export function createPageRoutes(options: PagesOptions): Route[] {
  const guards = createPageGuards({ ...options, confirm: createConfirm(options) })
  return routesOf(PAGES, {
    ...receiveControllers(guards, options),
    ...shareControllers(guards, options),
    ...ownerControllers(guards, options),
    ...requestControllers(guards, options),
    ...signInControllers(guards, options),
    ...accountControllers(guards, options),
    ...adminControllers(guards, options),
    previousApi: open(options.answerPreviousApi),
    trust: guards.guest(createTrustPage(options)),
  })
}

/** The pages of a secret link. */
function receiveControllers({ guest, guestForm }: PageGuards, options: PagesOptions) {
  const { show, reveal, expire, saveText } = createReceivePages(options)
  return {
    receive: guest(show),
    receiveStep: guest(show),
    reveal: guestForm(reveal),
    revealStep: guestForm(reveal),
    expire: guestForm(expire),
    // The form holds the text itself, so saving works during an outage too.
    saveText: open(async ({ exchange }) => saveText(await readForm(exchange))),
  }
}

/** The pages that share a secret. */
function shareControllers({ guest, patientForm }: PageGuards, options: PagesOptions) {
  const { show, create, refuseUnknown, share } = createCreatePage(options)
  return {
    create: guest((visitor) => show(visitor)),
    submitCreate: patientForm({ use: (visitor) => create(visitor), refuse: refuseUnknown }),
    share: patientForm({ use: (visitor) => share(visitor), refuse: share }),
    created: guest(createCreatedPage(options)),
  }
}

/** The pages of an account's own pushes. */
function ownerControllers({ member, form }: PageGuards, options: PagesOptions) {
  const list = createDashboard(options)
  const { showShared } = createShowForm(options)
  const { show, read, passOn, expire, unlock, edit } = createPushPages({ ...options, showShared })
  const { saveList, saveLog } = createExports(options)
  return {
    pushes: member(list.show),
    changePushes: form(list.change),
    push: member(show),
    editPush: form(edit),
    expireOwn: form(expire),
    unlock: form(unlock),
    readAnswer: form(read),
    passOn: form(passOn),
    auditCsv: member(saveLog('csv')),
    auditJson: member(saveLog('json')),
    listCsv: member(saveList('csv')),
    listJson: member(saveList('json')),
  }
}

/** The pages of an account's requests, and those of a request's link. */
function requestControllers({ guest, member, form }: PageGuards, options: PagesOptions) {
  const { showAll, ask, show, close } = createRequestPages(options)
  const answering = createAnswerPages(options)
  return {
    requests: member(showAll),
    ask: form(ask),
    request: member(show),
    closeRequest: form(close),
    answer: guest(answering.show),
    // Reads its own body, which may hold files.
    submitAnswer: guest(answering.send),
  }
}

/**
 * The controllers of sign-in. Their forms carry no form token, because a page that was opened before a new
 * sign-in has the token of the old session.
 */
function signInControllers({ guest, guestForm, form, confirmedForm }: PageGuards, options: PagesOptions) {
  const signIn = createSignInPages(options)
  const { headerSignIn } = options
  const isOffered = options.passkeys.party !== null
  const passkeys = createPasskeySignIn({ ...options, ...signIn })
  const welcome = createWelcomePages({ ...options, enterAfter: signIn.enterAfter })
  return {
    signIn: guest((visitor) => signIn.show(visitor)),
    submitSignIn: guestForm(signIn.signIn),
    submitCode: guestForm(signIn.confirm),
    forgot: guest((visitor) => signIn.showForgot(visitor)),
    submitForgot: guestForm(signIn.sendReset),
    signUp: guest(welcome.showSignUp),
    submitSignUp: guestForm(welcome.signUp),
    welcome: guest(welcome.show),
    submitWelcome: guestForm(welcome.useLink),
    signOut: form(signIn.signOut),
    headerSignIn:
      headerSignIn === null ? null : guest(createSignInByHeader({ ...options, ...signIn, headerSignIn })),
    startPasskey: isOffered ? guestForm(passkeys.start) : null,
    submitPasskey: isOffered ? guestForm(passkeys.submit) : null,
    ...providerControllers({ guest, guestForm, confirmedForm }, { ...options, ...signIn }),
  }
}

const NO_PROVIDER = {
  ...{ startProvider: null, providerCallback: null, submitProvider: null, providerLogout: null },
  ...{ linkProvider: null, unlinkProvider: null },
}

/** The pages of a sign-in by the provider. The provider sends no form token when it ends sessions. */
function providerControllers(
  { guest, guestForm, confirmedForm }: Pick<PageGuards, 'guest' | 'guestForm' | 'confirmedForm'>,
  options: ProviderPageOptions & Pick<ReturnType<typeof createSignInPages>, 'proceed'>,
) {
  const { provider } = options
  if (provider === null) return NO_PROVIDER
  const pages = createProviderPages({ ...options, provider })
  return {
    startProvider: guest(pages.start),
    providerCallback: guest(pages.finish),
    submitProvider: guestForm(pages.submit),
    providerLogout: open(({ exchange }) => pages.logOut(() => readForm(exchange), exchange.requestId)),
    linkProvider: confirmedForm(pages.link),
    unlinkProvider: confirmedForm(pages.unlink),
  }
}

/** The pages of an account itself. */
function accountControllers({ member, form, confirmedForm }: PageGuards, options: PagesOptions) {
  const account = createAccountPages(options)
  const tokens = createTokenPages(options)
  const message = createMessagePages(options)
  const notices = createNoticePages(options)
  const twoFactor = createTwoFactorPages({ ...options, showAccount: account.showAgain })
  const passkeys = createPasskeyPages({ ...options, showCodes: twoFactor.showCodes })
  const { party } = options.passkeys
  return {
    tokens: member(tokens.show),
    createToken: confirmedForm(tokens.create),
    revokeToken: form(tokens.revoke),
    account: member(account.show),
    changePassword: form(account.changePassword),
    endSession: form(account.endSession),
    keepNotices: form(notices.keep),
    testMail: form(notices.testMail),
    message: member(message.show),
    keepMessage: form(message.keep),
    notices: member(notices.show),
    addWebhook: confirmedForm(notices.add),
    removeWebhook: form(notices.remove),
    testWebhook: form(notices.test),
    twoFactor: member(twoFactor.show),
    turnOnTwoFactor: confirmedForm(twoFactor.turnOn),
    turnOffTwoFactor: confirmedForm(twoFactor.turnOff),
    newPasskey: party === null ? null : confirmedForm((guest) => passkeys.showNew(party)(guest)),
    addPasskey: party === null ? null : confirmedForm(passkeys.add(party)),
    removePasskey: confirmedForm(passkeys.remove),
    // Asks for the password, because the holder of the key can read every later answer.
    keepRecipient: confirmedForm(account.keepRecipient),
  }
}

/** The pages of administrators. */
function adminControllers({ member, form, confirmedForm }: PageGuards, options: PagesOptions) {
  const pages = createAdminPages(options)
  const notices = createNoticePages(options, 'server')
  return {
    admin: member(pages.show),
    allWebhooks: member(notices.show),
    keepAllNotices: form(notices.keep),
    addAllWebhook: confirmedForm(notices.add),
    removeAllWebhook: form(notices.remove),
    testAllWebhook: form(notices.test),
    firstSteps: member(createShowFirstSteps(options)),
    invite: confirmedForm(pages.invite),
    // Do not ask for the password: this only removes access, and may be urgent.
    withdrawInvitation: form(pages.withdraw),
    disableAccount: confirmedForm(pages.disable),
    enableAccount: confirmedForm(pages.enable),
    promoteAccount: confirmedForm(pages.promote),
    demoteAccount: confirmedForm(pages.demote),
    serviceAccount: confirmedForm(pages.service),
    personAccount: confirmedForm(pages.person),
    resetAccount: confirmedForm(pages.reset),
    removeAccount: confirmedForm(pages.remove),
    changeAppearance: confirmedForm(pages.changeAppearance),
    // Asks for the password, because pushes that have expired by this clock are destroyed then.
    acceptClock: confirmedForm(createAcceptClock(options.acceptClock)),
    // Asks for the password, because the new backup replaces the oldest.
    backUp: confirmedForm(createBackUp(options)),
  }
}
