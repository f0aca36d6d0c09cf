// What a new administrator does first: three steps that are ticked off by what is true, and go away when all are.

import type { Account } from '../../domain/account.ts'
import { DAY, type Now } from '../../domain/time.ts'
import { PAGES } from '../../http/urls.ts'
import type { Guest } from '../frame/guest.ts'
import type { Children } from '../frame/html.ts'
import { Icon } from '../frame/icons.tsx'
import { withFlag } from '../frame/parts.tsx'

export type Setup = { isReachable: boolean; hasShared: boolean }

export type FindSetup = ReturnType<typeof createFindSetup>

export type SetupOptions = {
  pushes: { hasOwned: (account: Account) => Promise<boolean> }
  now: Now
}

/** Afterwards the steps stay away, also when no push is left of an account that has shared many. */
const NEW = 30 * DAY

export function createFindSetup({ pushes, now }: SetupOptions) {
  /** Null when nothing is left to do, and for everybody but a new administrator. */
  return async (account: Account, guest: Guest): Promise<Setup | null> => {
    if (!account.isAdmin || now() > account.createdAt + NEW) return null
    const elsewhere = guest.findElsewhere()
    const isReachable = elsewhere === null || elsewhere.flag === null
    const hasShared = await pushes.hasOwned(account)
    return isReachable && hasShared ? null : { isReachable, hasShared }
  }
}

type StepsProps = { guest: Guest; setup: Setup; isExplained?: boolean }

/** `isExplained`: says what to do below each step. */
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
        <li class={[isExplained && 'card', isDone && 'good'].filter(Boolean).join(' ') || undefined}>
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

function HowToReach({ guest }: { guest: Guest }) {
  const { say } = guest
  const { host = '', flag } = guest.findElsewhere() ?? {}
  if (!flag) return null
  return (
    <>
      <p>
        {say('localhost_warning', { host })} {withFlag(say('localhost_flag'), flag)}
      </p>
      <p>{withFlag(say('setup_lan'), '--lan')}</p>
    </>
  )
}
