// What a new administrator sees first: how far the setup is, and what is good to do next.

import type { BackupStatus } from '../../backup/backups.ts'
import { PAGES } from '../../http/urls.ts'
import type { Member } from '../frame/guest.ts'
import type { Children } from '../frame/html.ts'
import type { IconName } from '../frame/icon-files.ts'
import { Icon } from '../frame/icons.tsx'
import { LocalhostNotice } from '../frame/localhost-notice.tsx'
import type { AnswerGuest } from '../frame/page.tsx'
import { withFlag } from '../frame/parts.tsx'
import { type FindSetup, SetupSteps } from './setup.tsx'

export type FirstStepsOptions = {
  answer: AnswerGuest
  findSetup: FindSetup
  /** Null for a server that makes no backups. */
  readBackups: () => BackupStatus | null
  /** Whether a database server keeps the data. */
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
