// Groups a list by days in the reader's time zone. The server knows only its own.

import { lang, locale, writesDates } from '../language.js'

const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'long' })
const near = new Intl.RelativeTimeFormat(lang, { numeric: 'auto' })
const startOf = (time) => new Date(time).setHours(0, 0, 0, 0)

function dayOf(moment) {
  const days = Math.round((startOf(Date.now()) - startOf(moment)) / 86_400_000)
  return days === 0 || days === 1 ? near.format(-days, 'day') : dates.format(moment)
}

function group(list) {
  const rows = [...list.querySelectorAll('li')]
  list.replaceChildren()
  for (const row of rows) {
    const day = dayOf(new Date(row.querySelector('.what time').dateTime))
    if (list.lastElementChild?.previousElementSibling.textContent !== day) {
      list.append(document.createElement('h2'), document.createElement('ul'))
      list.lastElementChild.previousElementSibling.textContent = day
    }
    list.lastElementChild.append(row)
  }
}

function groupByDay() {
  const list = document.querySelector('.list[data-days]')
  if (list !== null && writesDates) group(list)
}

groupByDay()
document.addEventListener('replaced', groupByDay)
