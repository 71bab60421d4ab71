import { useMutation, useQuery } from '@apollo/client/react';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';

import { EndUserSessionsDocument, PeopleDocument, PersonSessionsDocument } from '../../api/documents/keys.ts';
import type { PersonPartsFragment } from '../../api/documents/operations.ts';
import { usePages } from '../../api/use-pages.ts';
import { SearchField } from '../../parts/controls/fields.tsx';
import { Modal } from '../../parts/controls/modal.tsx';
import { Button, buttonLook } from '../../parts/looks/button.tsx';
import { Row, Small } from '../../parts/looks/lines.tsx';
import { Card, CardHead, Tag } from '../../parts/looks/panels.tsx';
import { ActionsHead, FiguresCell, FiguresHead } from '../../parts/looks/table.tsx';
import { PagedTable } from '../../parts/paged-table.tsx';
import { Empty, Problem } from '../../parts/problem.tsx';
import { Ago } from '../../parts/time.tsx';
import { t, textOr } from '../../text/text.ts';

const PAGE = 20;

/** Everybody who has signed in, newest first: what they made, what they did, and the end of their sessions. */
export function People({ onAudit }: { readonly onAudit: (caller: string) => void }) {
  const [search, setSearch] = useState<string | undefined>(undefined);
  const pages = usePages(PeopleDocument, 'users', {
    variables: { first: PAGE, search: search ?? null },
  });
  const [shown, show] = useState<PersonPartsFragment | null>(null);
  return (
    <Card>
      <CardHead title={t('people.title')}>
        <span className="ml-auto">
          <SearchField label={t('people.search')} find={search} onSearch={setSearch} />
        </span>
      </CardHead>
      <PagedTable
        label={t('people.title')}
        pages={pages}
        empty={<Empty title={t(search === undefined ? 'people.none' : 'gallery.noMatch')} />}
        heads={
          <>
            <th>{t('field.name')}</th>
            <th className="max-sm:hidden">{t('people.id')}</th>
            <FiguresHead>{t('people.last')}</FiguresHead>
            <FiguresHead wide>{t('keys.sessions')}</FiguresHead>
            <ActionsHead />
          </>
        }
      >
        {pages.edges.map(({ node }) => (
          <Person key={node.id} person={node} onSessions={() => show(node)} onAudit={onAudit} />
        ))}
      </PagedTable>
      {shown !== null && <PersonSessions person={shown} onClose={() => show(null)} />}
    </Card>
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
        <span className="block min-w-28 font-medium">{namePerson(person)}</span>
        <Small className="block">{email ?? subject}</Small>
      </td>
      <td className="max-w-45 truncate max-sm:hidden font-mono [font-size:12px]" title={id}>
        {id}
      </td>
      <FiguresCell>{lastSignInAt === null ? t('keys.never') : <Ago at={lastSignInAt} />}</FiguresCell>
      <FiguresCell wide>{openSessions}</FiguresCell>
      <td>
        <Row as="span" wrap>
          <Link className={buttonLook({ size: 'small' })} to="/tasks" search={{ owner: id }}>
            {t('page.tasks')}
          </Link>
          <Button size="small" onClick={() => onAudit(id)}>
            {t('audit.title')}
          </Button>
          <Link className={buttonLook({ size: 'small' })} to="/shop" search={{ view: 'payments', user: id }}>
            {t('shop.payments')}
          </Link>
          <Button size="small" disabled={openSessions === 0} onClick={onSessions}>
            {t('keys.sessions')}
          </Button>
        </Row>
      </td>
    </tr>
  );
}

interface PersonSessionsProps {
  readonly person: PersonPartsFragment;
  readonly onClose: () => void;
}

/** Where somebody is signed in, newest first; each session is ended alone, or all at once. */
function PersonSessions({ person, onClose }: PersonSessionsProps) {
  const userId = person.id;
  const { data, error } = useQuery(PersonSessionsDocument, {
    variables: { userId },
    fetchPolicy: 'cache-and-network',
  });
  const [end, ended] = useMutation(EndUserSessionsDocument, {
    refetchQueries: [PersonSessionsDocument, PeopleDocument],
    awaitRefetchQueries: true,
  });
  const sessions = data?.userSessions ?? [];
  const endAll = () => {
    if (!window.confirm(t('people.sure', { name: namePerson(person) }))) return;
    end({ variables: { userId } }).then(onClose, () => undefined);
  };
  const problem = error ?? ended.error;
  return (
    <Modal
      title={t('people.sessionsOf', { name: namePerson(person) })}
      onClose={onClose}
      foot={
        <Button kind="bad" disabled={ended.loading || sessions.length === 0} onClick={endAll}>
          {t('people.end')}
        </Button>
      }
    >
      {problem !== undefined && <Problem error={problem} />}
      {data !== undefined && sessions.length === 0 && <p className="text-muted">{t('people.noSessions')}</p>}
      <ul
        className="[&>li]:py-2 [&>li]:px-0 [&>li]:border-t [&>li]:border-t-line [&>li:first-child]:border-t-0"
        aria-label={t('keys.sessions')}
      >
        {sessions.map(({ id, platform, createdAt, lastUsedAt, current }) => (
          <li key={id} className="flex items-center gap-2 min-w-0">
            <span className="gap-0 flex flex-col flex-1 min-w-0">
              <Row as="span">
                {textOr(`platform.${platform}`, platform)} {current && <Tag>{t('keys.current')}</Tag>}
              </Row>
              <Small>
                {t('people.began')} <Ago at={createdAt} />
                {lastUsedAt !== null && (
                  <>
                    {' · '}
                    {t('people.renewed')} <Ago at={lastUsedAt} />
                  </>
                )}
              </Small>
            </span>
            <Button
              kind="bad"
              size="small"
              disabled={ended.loading}
              onClick={() => void end({ variables: { userId, sessionId: id } }).catch(() => undefined)}
            >
              {t('keys.end')}
            </Button>
          </li>
        ))}
      </ul>
    </Modal>
  );
}

/** What somebody is called: by name, by address, by what the identity provider calls them, else by id. */
function namePerson({ name, email, subject, id }: PersonPartsFragment): string {
  return name ?? email ?? subject ?? id;
}
