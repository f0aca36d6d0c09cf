// Writes --audit-log: wraps the store, the services, the backups and the front door without changing their
// behaviour. Loaded only with the flag.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Backups } from '../backup/backups.ts'
import { hmac } from '../crypto/digest.ts'
import { findKey, fingerprint } from '../crypto/keyring.ts'
import type { Now } from '../domain/time.ts'
import type { Exchange } from '../http/door/exchange.ts'
import { routeKey } from '../http/urls.ts'
import type { Appearances } from '../operating/appearance.ts'
import { type AuditFile, presentAuditLine } from '../operating/audit-trail.ts'
import type { SettingInEffect } from '../pages/admin/settings.tsx'
import type { OpenedStore } from '../store/opening/opened-store.ts'
import type { StoredPush } from '../store/pushes-contract.ts'
import type { StoredRequest } from '../store/requests-contract.ts'
import { type Act, createOn, noting } from './audit-acts.ts'
import { REFUSED_ACTIONS, REQUEST_PAGE, statusOf, TOKEN_HEADERS } from './audited-routes.ts'
import { auditServices } from './audited-services.ts'
import type { Services } from './services.ts'

/** The current request, and what is known about its subject. */
type AuditedCall = {
  ip: string
  user: string | null
  push: StoredPush | null
  request: StoredRequest | null
  /** Whether a line of this request was written. */
  isTold: boolean
}

type AuditingOptions = {
  file: Pick<AuditFile, 'write'>
  store: Pick<OpenedStore, 'keyring' | 'lists'>
  now: Now
  version: string
  settings: readonly Pick<SettingInEffect, 'flag' | 'value'>[]
}

export function createAuditing({ file, store, now, version, settings }: AuditingOptions) {
  const { keyring, lists } = store
  const calls = new AsyncLocalStorage<AuditedCall>()
  /** Lines wait until the ids of their pushes are known, and keep the order of their commits. */
  let written: Promise<void> = Promise.resolve()

  /** Adds facts to the record of the current request. Does nothing outside of a request. */
  function note(known: Partial<AuditedCall>): void {
    const call = calls.getStore()
    if (call !== undefined) Object.assign(call, known)
  }

  /** Call this after the commit is durable. */
  function tell({ push = null, request = null, outcome = 'success', more, ...act }: Act): void {
    note({ isTold: true })
    const { user, ip } = calls.getStore() ?? {}
    const line = { at: now(), user, ip, outcome, ...act }
    written = written.then(async () => {
      const subject = {
        'oncebox.push.id': push && (await idOfPush(push)),
        'oncebox.push.kind': push?.kind,
        'oncebox.request.id':
          request && idUnder(request.keyNumber, `request/${request.id}/${request.createdAt}`),
      }
      file.write(presentAuditLine({ ...line, more: { ...subject, ...more } }))
    })
  }

  /** Returns the id that events use, or for an anonymous push one that is the same in all its lines. */
  async function idOfPush({ id, ownerId, keyNumber, createdAt }: StoredPush): Promise<string> {
    const labels = ownerId === null ? null : await lists.findLabels(id).catch(() => null)
    return labels?.eventId ?? idUnder(keyNumber, `push/${id}/${createdAt}`)
  }

  function idUnder(keyNumber: number, subject: string): string {
    const { notices } = findKey(keyring, keyNumber) ?? keyring.sealing
    return hmac(notices, `audit/${subject}`).toString('hex').slice(0, 20)
  }

  function tellEnd(push: StoredPush, reason: string): void {
    if (push.expiredOn === null) return
    // An expiry by time has no actor.
    const nobody = reason === 'time' ? { user: null, ip: null } : {}
    tell({ action: 'push-expire', reason, push, ...nobody })
  }

  async function tellEnds<T>(reason: string, expire: (ended: StoredPush[]) => Promise<T>): Promise<T> {
    const ended: StoredPush[] = []
    const result = await expire(ended)
    for (const push of ended) tellEnd(push, reason)
    return result
  }

  const on = createOn(tell)

  function wrapStore(inner: OpenedStore): OpenedStore {
    const { pushes, expiry, requests, identities, accountLinks } = inner
    const noted = <T extends StoredPush | null | undefined>(push: T): T => {
      if (push) note({ push })
      return push
    }
    const tellVisit = ({ outcome, push }: { outcome: string; push: StoredPush }) => {
      noted(push)
      if (outcome === 'has_files') return
      const isView = outcome === 'view'
      const reason = isView ? null : outcome === 'refused' ? 'wrong_passphrase' : outcome
      tell({ action: 'push-open', outcome: isView ? 'success' : 'failure', reason, push })
      if (isView) tellEnd(push, 'views')
      if (outcome === 'refused') tellEnd(push, 'passphrase')
    }
    return {
      ...inner,
      pushes: {
        ...noting(pushes, {
          createPush: (push, { answer }) => {
            noted(push)
            const request = calls.getStore()?.request ?? null
            tell(
              answer === null ? { action: 'push-create', push } : { action: 'request-answer', push, request },
            )
          },
          findPush: noted,
          findSealedPush: ({ push }) => noted(push),
          claimView: tellVisit,
          claimPlain: tellVisit,
          refusePassphrase: tellVisit,
          expirePush: (push) => {
            const outcome = push.deleted ? 'success' : 'failure'
            const reason = push.deleted ? 'deleted' : 'expired'
            tell({ action: 'push-expire', push: noted(push), outcome, reason })
          },
          editPush: (edited) => {
            if (edited.outcome === 'edited') tell({ action: 'push-edit', push: noted(edited.push) })
          },
          mailLink: ({ outcome, push }) => {
            if (outcome === 'mailed') tell({ action: 'push-mail', push: noted(push) })
          },
          unlockPush: (push) => tell({ action: 'push-unlock', push: noted(push) }),
        }),
        expirePushes: (asked) => tellEnds('deleted', (ended) => pushes.expirePushes(asked, ended)),
      },
      expiry: {
        ...expiry,
        expireLapsed: () => tellEnds('time', expiry.expireLapsed),
        expireLapsedOf: (ownerId) => tellEnds('time', (ended) => expiry.expireLapsedOf(ownerId, ended)),
      },
      identities: on(identities, {
        addAccount: ([{ email, identity }]) => ({
          ...{ action: 'account-create', reason: identity ? 'provider' : 'header' },
          ...{ user: email, target: email },
        }),
        setAdmin: ([{ isAdmin }], account) => ({
          ...{ action: isAdmin ? 'account-promote' : 'account-demote', reason: 'provider' },
          target: account?.email,
        }),
        bind: (_, account) => ({ action: 'provider-link', target: account?.email }),
      }),
      accountLinks: noting(accountLinks, {
        useLink: ({ email }, { identity }) => {
          if (identity) tell({ action: 'account-create', reason: 'provider', user: email, target: email })
        },
      }),
      requests: noting(requests, {
        findRequest: (request) => note({ request }),
        addRequest: (request) => tell({ action: 'request-create', request }),
        closeRequest: (request) => tell({ action: 'request-close', request }),
        refusePassphrase: ({ outcome, request }) => {
          const reason = outcome === 'refused' ? 'wrong_passphrase' : outcome
          tell({ action: 'request-answer', outcome: 'failure', reason, request })
        },
      }),
    }
  }

  const wrapServices = (services: Services): Services =>
    auditServices(services, {
      on,
      identify: ({ email }) => note({ user: email }),
    })

  function wrapBackups(backups: Backups): Backups {
    const { job, makeNow } = backups
    return {
      ...backups,
      job: {
        ...job,
        start: (report) =>
          job.start({
            did: () => {
              calls.exit(() => tell({ action: 'backup-make' }))
              report.did()
            },
            failed: (...failure) => {
              calls.exit(() => tell({ action: 'backup-make', outcome: 'failure' }))
              report.failed(...failure)
            },
          }),
      },
      makeNow: (by) => {
        tell({ action: 'backup-request' })
        makeNow(by)
      },
    }
  }

  const wrapAppearance = (appearance: Appearances): Appearances =>
    on(appearance, { change: () => ({ action: 'appearance-change' }) })

  /** Handles the request. Logs refusals that no use case has logged, and views of the page of a request. */
  async function observe(
    exchange: Exchange,
    answer: (exchange: Exchange) => Promise<Response>,
  ): Promise<Response> {
    const nothing = { user: null, push: null, request: null, isTold: false }
    const call: AuditedCall = { ip: exchange.clientAddress, ...nothing }
    return calls.run(call, async () => {
      const response = await answer(exchange)
      if (call.isTold || exchange.isHead) return response
      const { status } = response
      const route = routeKey({ method: exchange.request.method, path: exchange.route })
      const { push, request } = call
      const action = REFUSED_ACTIONS.get(route)
      if (route === REQUEST_PAGE) tell({ action: 'request-open', request, ...statusOf(status) })
      else if (action !== undefined && status >= 400) tell({ action, push, request, ...statusOf(status) })
      else if (status === 401 && TOKEN_HEADERS.some((header) => exchange.request.headers.has(header)))
        tell({ action: 'token-use', ...statusOf(status) })
      return response
    })
  }

  /**
   * Logs the start, with the settings as administrators see them and the fingerprint of the key that seals.
   */
  function tellStart(): void {
    const inEffect = Object.fromEntries(settings.map(({ flag, value }) => [flag, value]))
    tell({
      action: 'server-start',
      more: {
        'service.version': version,
        'oncebox.key': fingerprint(keyring.sealing.verifier),
        'oncebox.settings': inEffect,
      },
    })
  }

  /** Resolves once every line has been written to the file. */
  async function stop(): Promise<void> {
    tell({ action: 'server-stop' })
    await written
  }

  return { wrapStore, wrapServices, wrapBackups, wrapAppearance, observe, tellStart, stop }
}
