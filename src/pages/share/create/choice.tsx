// One of a few: radio buttons that look like what they choose.

import type { Children } from '../../frame/html.ts'

export type Pick = { id: string; value: string; label: Children; isChosen: boolean }

type ChoiceProps = {
  legend: string
  name: string
  picks: Pick[]
  children?: Children
}

/** What belongs to a choice follows it: in `.exact`, the fields for which the last one stands. */
export function Choice({ legend, name, picks, children }: ChoiceProps) {
  return (
    <fieldset class="choice">
      <legend>{legend}</legend>
      <div class="picks">
        {picks.map(({ id, value, label, isChosen }) => (
          <label class="pick">
            <input type="radio" id={id} name={`push[${name}]`} value={value} checked={isChosen} />
            {label}
          </label>
        ))}
      </div>
      {children}
    </fieldset>
  )
}
