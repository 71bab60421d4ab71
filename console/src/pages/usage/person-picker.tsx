import { useQuery } from '@apollo/client/react';
import { useId, useState } from 'react';

import { PeopleDocument } from '../../api/operations.ts';
import { useDebounced } from '../../parts/controls/use-debounced.ts';
import { Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';

const SHOWN = 6;
const REST_MS = 250;
const VISITORS = 'anon';

export interface ChoiceProps {
  /** The id that is chosen; empty for none. */
  readonly subject: string;
  readonly onSubject: (subject: string) => void;
}

/** Somebody who has signed in, found by a part of their name, address or id; or everybody who has not. */
export function PersonPicker({ subject, onSubject }: ChoiceProps) {
  const id = useId();
  const [words, setWords] = useState('');
  const search = useDebounced(words.trim(), REST_MS);
  const { data, previousData, error } = useQuery(PeopleDocument, {
    variables: { first: SHOWN, search: search === '' ? null : search },
  });
  const found = (data ?? previousData)?.users.edges.map(({ node }) => node) ?? [];
  const people = [
    ...found.map((person) => ({
      id: person.id,
      name: person.name ?? person.email ?? person.subject ?? person.id,
      note: person.email ?? person.subject ?? person.id,
    })),
    ...(search === '' ? [{ id: VISITORS, name: t('budget.visitors'), note: VISITORS }] : []),
  ];
  const isHidden = subject !== '' && people.every((one) => one.id !== subject);
  return (
    <fieldset className="field">
      <legend>{t('budget.scope.USER')}</legend>
      <input
        type="search"
        className="in"
        aria-label={t('people.search')}
        placeholder={t('people.search')}
        value={words}
        onChange={({ target }) => setWords(target.value)}
      />
      {error !== undefined && <Problem error={error} />}
      {/* Who was chosen stays so when they are searched away. */}
      {[...people, ...(isHidden ? [{ id: subject, name: subject, note: '' }] : [])].map((one) => (
        <label key={one.id} className="row pick-person">
          <input
            type="radio"
            name={id}
            required
            checked={one.id === subject}
            onChange={() => onSubject(one.id)}
          />
          <span className="med">{one.name}</span>
          {one.note !== one.name && <span className="c12 mute cut">{one.note}</span>}
        </label>
      ))}
      {data !== undefined && people.length === 0 && <p className="help">{t('gallery.noMatch')}</p>}
    </fieldset>
  );
}
