import { useMutation, useQuery } from '@apollo/client/react';
import { useState } from 'react';

import { useCaller } from '../../api/caller.ts';
import {
  RevokeServiceKeyDocument,
  RevokeSessionDocument,
  ServiceKeysDocument,
  SessionsDocument,
} from '../../api/documents/keys.ts';
import { Button } from '../../parts/looks/button.tsx';
import { Help } from '../../parts/looks/inputs.tsx';
import { Row, Small } from '../../parts/looks/lines.tsx';
import { Card, CardHead, Page, PageTop, Tag } from '../../parts/looks/panels.tsx';
import { ActionsHead, FiguresCell, FiguresHead, TableFrame } from '../../parts/looks/table.tsx';
import { PageHeading } from '../../parts/page/page-heading.tsx';
import { Empty, Problem, problemText } from '../../parts/problem.tsx';
import { Ago } from '../../parts/time.tsx';
import { t, textOr } from '../../text/text.ts';
import { Audit } from './audit.tsx';
import { NewKey } from './new-key.tsx';
import { People } from './people.tsx';
import { RotateKey } from './rotate-key.tsx';
import { SignIn } from './sign-in.tsx';

/** Who this tab is, its sessions, and the service keys for those who may see them. */
export function KeysPage() {
  const caller = useCaller();
  return (
    <>
      <PageTop>
        <PageHeading>
          {t(caller?.kind === 'USER' && !caller.mayIssueKeys ? 'page.account' : 'page.keys')}
        </PageHeading>
      </PageTop>
      <Page>
        <SignIn />
        {caller?.mayIssueKeys === true && <Keys />}
        {caller?.kind === 'USER' && <Sessions />}
        {caller?.mayIssueKeys === true && <Records />}
      </Page>
    </>
  );
}

/** Who there is, and what was done by whom; somebody's row leads to what they did. */
function Records() {
  const [caller, setCaller] = useState<string | undefined>(undefined);
  return (
    <>
      <People
        onAudit={(id) => {
          setCaller(id);
          document.querySelector('#audit')?.scrollIntoView();
        }}
      />
      <Audit caller={caller} onCaller={setCaller} />
    </>
  );
}

/** Until when the secret before the last rotation works. */
function Former({ until }: { readonly until: string }) {
  return (
    <Small className="block">
      {t('keys.former')} <Ago at={until} />
    </Small>
  );
}

function Keys() {
  const { data, error } = useQuery(ServiceKeysDocument);
  if (error !== undefined) return <Problem error={error} />;
  const keys = data?.serviceKeys ?? [];
  return (
    <Card>
      <CardHead title={t('keys.keys')}>
        <span className="text-12 text-faint tabular-nums">{keys.length}</span>
      </CardHead>
      <NewKey />
      {data !== undefined && keys.length === 0 && <Empty title={t('keys.none')} />}
      {keys.length > 0 && (
        <TableFrame label={t('keys.keys')}>
          <table>
            <thead>
              <tr>
                <th>{t('field.name')}</th>
                <th>{t('keys.scopes')}</th>
                <th className="max-sm:hidden">{t('keys.generators')}</th>
                <FiguresHead wide>{t('keys.expires')}</FiguresHead>
                <FiguresHead>{t('task.created')}</FiguresHead>
                <FiguresHead>{t('keys.used')}</FiguresHead>
                <ActionsHead />
              </tr>
            </thead>
            <tbody>
              {keys.map(
                ({
                  id,
                  name,
                  scopes,
                  generators,
                  expiresAt,
                  createdAt,
                  lastUsedAt,
                  revokedAt,
                  formerUntil,
                }) => (
                  <tr key={id}>
                    <td className="font-medium">
                      {name}
                      {formerUntil !== null && revokedAt === null && <Former until={formerUntil} />}
                    </td>
                    <td className="text-muted">
                      {scopes.map((scope) => textOr(`keys.scope.${scope}`, scope)).join(', ')}
                    </td>
                    <td className="max-sm:hidden text-muted">
                      {generators?.join(', ') ?? t('keys.anyGenerator')}
                    </td>
                    <FiguresCell wide>
                      {expiresAt === null ? t('keys.noEnd') : <Ago at={expiresAt} />}
                    </FiguresCell>
                    <FiguresCell>
                      <Ago at={createdAt} />
                    </FiguresCell>
                    <FiguresCell>
                      {lastUsedAt === null ? t('keys.never') : <Ago at={lastUsedAt} />}
                    </FiguresCell>
                    <FiguresCell>
                      {revokedAt === null ? (
                        <KeyActions id={id} name={name} />
                      ) : (
                        <span className="text-muted">{t('keys.revoked')}</span>
                      )}
                    </FiguresCell>
                  </tr>
                ),
              )}
            </tbody>
          </table>
        </TableFrame>
      )}
    </Card>
  );
}

function KeyActions({ id, name }: { readonly id: string; readonly name: string }) {
  const [revoke, { error }] = useMutation(RevokeServiceKeyDocument);
  return (
    <Row as="span">
      {error !== undefined && (
        <Help bad role="alert">
          {problemText(error)}
        </Help>
      )}
      <RotateKey id={id} name={name} />
      <Button
        kind="bad"
        size="small"
        onClick={() => {
          if (!window.confirm(t('keys.sure', { name }))) return;
          revoke({ variables: { id } }).catch(() => undefined);
        }}
      >
        {t('keys.revoke')}
      </Button>
    </Row>
  );
}

function Sessions() {
  const { data } = useQuery(SessionsDocument);
  const [revoke, { error }] = useMutation(RevokeSessionDocument, { refetchQueries: [SessionsDocument] });
  const sessions = data?.sessions ?? [];
  if (sessions.length === 0) return null;
  return (
    <Card>
      <CardHead title={t('keys.sessions')} />
      <ul>
        {sessions.map(({ id, platform, createdAt, current }) => (
          <li key={id} className="p-4 flex items-center gap-2 min-w-0">
            <span className="flex-1 min-w-0">
              {textOr(`platform.${platform}`, platform)} · <Ago at={createdAt} />
            </span>
            {current && <Tag>{t('keys.current')}</Tag>}
            <Button size="small" onClick={() => void revoke({ variables: { id } }).catch(() => undefined)}>
              {t('keys.end')}
            </Button>
          </li>
        ))}
      </ul>
      {error !== undefined && <Problem error={error} />}
    </Card>
  );
}
