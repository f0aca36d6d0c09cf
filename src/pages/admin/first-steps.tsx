// What a new administrator sees first: that it worked, and three things to do next.

import { PAGES } from '../../http/urls.ts'
import type { WordKey } from '../../words/words.ts'
import type { Member } from '../frame/guest.ts'
import type { IconName } from '../frame/icon-files.ts'
import { Icon } from '../frame/icons.tsx'
import { LocalhostNotice } from '../frame/localhost-notice.tsx'
import type { AnswerGuest } from '../frame/page.tsx'

type Step = { icon: IconName; href: string; title: WordKey; text: WordKey }

const CREATE: Step = {
  icon: 'plus',
  href: PAGES.create.href(),
  title: 'first_create',
  text: 'first_create_text',
}
const INVITE: Step = {
  icon: 'users',
  href: `${PAGES.admin.href()}#invite`,
  title: 'first_invite',
  text: 'first_invite_text',
}
const PROTECT: Step = {
  icon: 'shield-check',
  href: PAGES.twoFactor.href(),
  title: 'first_two_factor',
  text: 'first_two_factor_text',
}

export function createShowFirstSteps(answer: AnswerGuest) {
  return (guest: Member): Response => {
    const { say } = guest.words
    const steps = guest.account.hasTwoFactor ? [CREATE, INVITE] : [CREATE, INVITE, PROTECT]
    const content = (
      <>
        <h1>{say('first_title')}</h1>
        <LocalhostNotice guest={guest} path={PAGES.firstSteps.href()} />
        <p class="lead">{say('first_lead')}</p>
        <ol class="next-steps">
          {steps.map(({ icon, href, title, text }) => (
            <li class="card">
              <Icon name={icon} />
              <div>
                <a href={guest.href(href)}>{say(title)}</a>
                <p class="hint">{say(text)}</p>
              </div>
            </li>
          ))}
        </ol>
      </>
    )
    return answer(content, { guest, title: say('first_title') })
  }
}
