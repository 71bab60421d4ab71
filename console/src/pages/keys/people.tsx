import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { PeopleDocument, type PersonPartsFragment } from '../../api/operations.ts';
import { usePages } from '../../api/use-pages.ts';
import { SearchField } from '../../parts/controls/search-field.tsx';
import { MoreButton } from '../../parts/more-button.tsx';
import { Empty, Problem } from '../../parts/problem.tsx';
import { Ago } from '../../parts/time.tsx';
import { t } from '../../text/text.ts';
import { PersonSessions } from './person-sessions.tsx';
import { nameOf } from './person.ts';

const PAGE = 20;

/** Everybody who has signed in, newest first: what they made, what they did, and the end of their sessions. */
export function People({ onAudit }: { readonly onAudit: (caller: string) => void }) {
  const [search, setSearch] = useState<string | undefined>(undefined);
  const { list, edges, error, isLoading, more } = usePages(PeopleDocument, 'users', {
    variables: { first: PAGE, search: search ?? null },
  });
  const [shown, show] = useState<PersonPartsFragment | null>(null);
  return (
    <section className="card">
      <header className="row wrap">
        <h2>{t('people.title')}</h2>
        <span className="push">
          <SearchField label={t('people.search')} find={search} onSearch={setSearch} />
        </span>
      </header>
      {error !== undefined && <Problem error={error} />}
      {list !== undefined && edges.length === 0 && (
        <Empty title={t(search === undefined ? 'people.none' : 'gallery.noMatch')} />
      )}
      {edges.length > 0 && (
        <div className="scroll" tabIndex={0} role="region" aria-label={t('people.title')}>
          <table>
            <thead>
              <tr>
                <th>{t('field.name')}</th>
                <th className="p-hide">{t('people.id')}</th>
                <th className="num">{t('people.last')}</th>
                <th className="num p-hide">{t('keys.sessions')}</th>
                <th>
                  <span className="vh">{t('task.actions')}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {edges.map(({ node }) => (
                <Person key={node.id} person={node} onSessions={() => show(node)} onAudit={onAudit} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <MoreButton isLoading={isLoading} onMore={more} />
      {shown !== null && <PersonSessions person={shown} onClose={() => show(null)} />}
    </section>
  );
}

interface PersonProps {
  readonly person: PersonPartsFragment;
  readonly onSessions: () => void;
  readonly onAudit: (caller: string) => void;
}

function Person({ person, onSessions, onAudit }: PersonProps) {
  const { id, email, subject, lastSignInAt, openSessions } = person;
  return (
    <tr>
      <td>
        <span className="med block min-w-28">{nameOf(person)}</span>
        <span className="c12 mute block">{email ?? subject}</span>
      </td>
      <td className="mono audit-id p-hide" title={id}>
        {id}
      </td>
      <td className="num">{lastSignInAt === null ? t('keys.never') : <Ago at={lastSignInAt} />}</td>
      <td className="num p-hide">{openSessions}</td>
      <td>
        <span className="row wrap">
          <Link className="btn sm" to="/tasks" search={{ owner: id }}>
            {t('page.tasks')}
          </Link>
          <button type="button" className="btn sm" onClick={() => onAudit(id)}>
            {t('audit.title')}
          </button>
          <Link className="btn sm" to="/shop" search={{ view: 'payments', user: id }}>
            {t('shop.payments')}
          </Link>
          <button type="button" className="btn sm" disabled={openSessions === 0} onClick={onSessions}>
            {t('keys.sessions')}
          </button>
        </span>
      </td>
    </tr>
  );
}
