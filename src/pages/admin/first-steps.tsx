// The first page of a new administrator: the progress of the setup, and advice on what to do next.

import type { BackupStatus } from '../../backup/backups.ts'
import type { Account } from '../../domain/account.ts'
import { DAY, type Now } from '../../domain/time.ts'
import { PAGES } from '../../http/urls.ts'
import type { Guest, Member } from '../frame/guest.ts'
import type { Children } from '../frame/html.ts'
import type { IconName } from '../frame/icon-files.ts'
import { Icon } from '../frame/icons.tsx'
import { LocalhostNotice } from '../frame/localhost-notice.tsx'
import type { AnswerGuest } from '../frame/page.tsx'
import { CopyButton, withFlag } from '../frame/parts.tsx'

export type FirstStepsOptions = {
  answer: AnswerGuest
  findSetup: FindSetup
  /** Returns the state of the backups; null if the server makes none. */
  readBackups: () => BackupStatus | null
  /** Whether the rows are in PostgreSQL. */
  isOnServer: boolean
}

type Advice = { icon: IconName; href: string; title: string; text: Children }

export function createShowFirstSteps({ answer, findSetup, readBackups, isOnServer }: FirstStepsOptions) {
  function adviceFor({ account, words: { say } }: Member): (Advice | false)[] {
    const admin = PAGES.admin.href()
    return [
      readBackups() === null && {
        icon: 'save',
        href: `${admin}#backups`,
        title: say('first_backups'),
        text: isOnServer ? say('backups_server') : withFlag(say('backups_none'), '--backup-dir'),
      },
      !account.hasTwoFactor && {
        icon: 'shield-check',
        href: PAGES.twoFactor.href(),
        title: say('first_two_factor'),
        text: say('first_two_factor_text'),
      },
      { icon: 'users', href: `${admin}#invite`, title: say('first_invite'), text: say('first_invite_text') },
    ]
  }

  return async (guest: Member): Promise<Response> => {
    const { say } = guest
    const setup = await findSetup(guest.account, guest)
    const content = (
      <>
        <h1>{say('first_title')}</h1>
        {guest.findElsewhere()?.flag === null && (
          <LocalhostNotice guest={guest} path={PAGES.firstSteps.href()} />
        )}
        {setup === null ? (
          <p class="lead">{say('first_ready')}</p>
        ) : (
          <>
            <p class="lead">{say('first_lead')}</p>
            <SetupSteps guest={guest} setup={setup} isExplained />
          </>
        )}
        <h2>{say('first_next')}</h2>
        <ul class="next-steps">
          {adviceFor(guest).map(
            (advice) =>
              advice && (
                <li class="card">
                  <Icon name={advice.icon} />
                  <div>
                    <a class="title" href={guest.href(advice.href)}>
                      {advice.title}
                    </a>
                    <p class="hint">{advice.text}</p>
                  </div>
                </li>
              ),
          )}
        </ul>
      </>
    )
    return answer(content, { guest, title: say('first_title') })
  }
}

export type Setup = { isReachable: boolean; hasShared: boolean }

export type FindSetup = ReturnType<typeof createFindSetup>

type SetupOptions = { pushes: { hasOwned: (account: Account) => Promise<boolean> }; now: Now }

/**
 * How long an administrator counts as new. After that the steps are not shown, even if all pushes are purged.
 */
const NEW = 30 * DAY

export function createFindSetup({ pushes, now }: SetupOptions) {
  /** Resolves to null if all steps are done, or if the account is no new administrator. */
  return async (account: Account, guest: Guest): Promise<Setup | null> => {
    if (!account.isAdmin || now() > account.createdAt + NEW) return null
    const elsewhere = guest.findElsewhere()
    const isReachable = elsewhere === null || elsewhere.flag === null
    const hasShared = await pushes.hasOwned(account)
    return isReachable && hasShared ? null : { isReachable, hasShared }
  }
}

type StepsProps = { guest: Guest; setup: Setup; isExplained?: boolean }

/** `isExplained`: whether each step has an explanation below it. */
export function SetupSteps({ guest, setup, isExplained = false }: StepsProps) {
  const { say } = guest
  const { isReachable, hasShared } = setup
  const link = (to: string, text: string) => (guest.path === to ? text : <a href={guest.href(to)}>{text}</a>)
  const steps: { isDone: boolean; title: Children; hint: Children }[] = [
    { isDone: true, title: say('setup_you'), hint: guest.viewer.account?.email },
    {
      isDone: isReachable,
      title: isReachable ? say('setup_reach') : link(PAGES.firstSteps.href(), say('setup_reach')),
      hint: isReachable ? null : <HowToReach guest={guest} />,
    },
    {
      isDone: hasShared,
      title: hasShared ? say('setup_share') : link(PAGES.create.href(), say('setup_share')),
      hint: say('first_create_text'),
    },
  ]
  return (
    <ol class={isExplained ? 'next-steps' : 'setup'} aria-label={say('setup_steps')}>
      {steps.map(({ isDone, title, hint }, at) => (
        <li class={lookOf({ isDone, isExplained })}>
          <span class="mark">{isDone ? <Icon name="check" /> : guest.words.number(at + 1)}</span>
          <div>
            <span class="title">
              {title}
              {isDone && <span class="visually-hidden"> ({say('setup_done')})</span>}
            </span>
            {isExplained && hint !== null && <div class="hint">{hint}</div>}
          </div>
        </li>
      ))}
    </ol>
  )
}

function lookOf({ isDone, isExplained }: { isDone: boolean; isExplained: boolean }): string | undefined {
  if (!isExplained) return isDone ? 'good' : undefined
  return isDone ? 'card good' : 'card'
}

function HowToReach({ guest }: { guest: Guest }) {
  const { say } = guest
  const { host = '', flag } = guest.findElsewhere() ?? {}
  if (!flag) return null
  return (
    <>
      <p>
        {say('localhost_warning', { host })} {withFlag(say('localhost_flag'), flag)}
      </p>
      <p>
        <CopyButton target="" text={flag} words={guest.words} label={say('copy_flag')} />
      </p>
      <p>{withFlag(say('setup_lan'), '--lan')}</p>
    </>
  )
}
