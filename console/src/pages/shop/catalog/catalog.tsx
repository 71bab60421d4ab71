import { useMutation, useQuery } from '@apollo/client/react';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import type { CatalogPartsFragment } from '../../../api/documents/operations.ts';
import {
  CatalogDocument,
  CreateTestTemplateDocument,
  ImportBundledTemplatesDocument,
  ShopDocument,
  UnrunnableDocument,
} from '../../../api/documents/shop.ts';
import { SearchField } from '../../../parts/controls/fields.tsx';
import { Icon } from '../../../parts/icons.tsx';
import { Button, buttonLook } from '../../../parts/looks/button.tsx';
import { Check } from '../../../parts/looks/inputs.tsx';
import { Figures, Row } from '../../../parts/looks/lines.tsx';
import { Card, CardHead, Note } from '../../../parts/looks/panels.tsx';
import { FiguresHead, TableFrame } from '../../../parts/looks/table.tsx';
import { Empty, Problem } from '../../../parts/problem.tsx';
import { t } from '../../../text/text.ts';
import { BulkBar } from './bulk-bar.tsx';
import { CatalogRow } from './catalog-row.tsx';

/** Every template, for administrators: what it costs, whether it is on sale, and why it can not be run. */
export function Catalog() {
  const { data, error } = useQuery(CatalogDocument, { fetchPolicy: 'cache-and-network' });
  const checked = useQuery(UnrunnableDocument, { fetchPolicy: 'cache-and-network' });
  const [find, setFind] = useState<string | undefined>(undefined);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const reasons = new Map(
    checked.data?.unrunnableTemplates.map((one) => [one.template.code, one.reason] as const),
  );
  const all = data?.templatesConnection.edges.map(({ node }) => node) ?? [];
  const shown = all.filter((template) => matches(template, find));
  const toggle = (code: string) => {
    const rest = [...selected].filter((one) => one !== code);
    setSelected(new Set(selected.has(code) ? rest : [...rest, code]));
  };
  const isAll = shown.length > 0 && shown.every(({ code }) => selected.has(code));
  return (
    <Card>
      <CardHead title={t('shop.catalog')}>
        <Figures tone="faint" small>
          {data?.templatesConnection.totalCount}
        </Figures>
        <Link className={`${buttonLook({ kind: 'primary' })} ml-auto`} to="/shop/new">
          <Icon name="plus" size={14} />
          {t('shop.newTemplate')}
        </Link>
      </CardHead>
      <Row wrap className="p-4">
        <SearchField label={t('shop.findTemplate')} find={find} onSearch={setFind} />
        <Row as="span" wrap className="ml-auto">
          <Makers />
        </Row>
      </Row>
      {error !== undefined && <Problem error={error} />}
      {reasons.size > 0 && (
        <Note tone="warn" className="mt-0 mr-4 mb-3 ml-4" role="status">
          <Icon name="warning" />
          {t('shop.someUnrunnable', { count: reasons.size })}
        </Note>
      )}
      <BulkBar codes={[...selected]} onDone={() => setSelected(new Set())} />
      {data !== undefined && shown.length === 0 && (
        <Empty title={t(all.length === 0 ? 'shop.none' : 'gallery.noMatch')} />
      )}
      {shown.length > 0 && (
        <TableFrame label={t('shop.catalog')}>
          <table>
            <thead>
              <tr>
                <th className="w-12">
                  <Check
                    aria-label={t('shop.selectAll')}
                    checked={isAll}
                    onChange={() => setSelected(new Set(isAll ? [] : shown.map(({ code }) => code)))}
                  />
                </th>
                <th>{t('shop.template')}</th>
                <th className="max-sm:hidden">{t('models.makes')}</th>
                <FiguresHead>{t('shop.price')}</FiguresHead>
                <th>{t('task.state')}</th>
                <th className="max-sm:hidden">{t('shop.atProvider')}</th>
              </tr>
            </thead>
            <tbody>
              {shown.map((template) => (
                <CatalogRow
                  key={template.code}
                  template={template}
                  reason={reasons.get(template.code) ?? null}
                  isSelected={selected.has(template.code)}
                  onSelect={() => toggle(template.code)}
                />
              ))}
            </tbody>
          </table>
        </TableFrame>
      )}
    </Card>
  );
}

function matches({ code, name, tags }: CatalogPartsFragment, find: string | undefined): boolean {
  if (find === undefined) return true;
  return [code, name, ...tags].some((text) => text.toLowerCase().includes(find.toLowerCase()));
}

/** Templates that need no form: those that come with Kiln, and one to try things with. */
function Makers() {
  const navigate = useNavigate();
  const refetchQueries = [CatalogDocument, ShopDocument];
  const [createTest, test] = useMutation(CreateTestTemplateDocument, { refetchQueries });
  const [addBundled, bundled] = useMutation(ImportBundledTemplatesDocument, { refetchQueries });
  const error = test.error ?? bundled.error;
  const makeTest = () =>
    createTest().then(
      ({ data }) => {
        const code = data?.createTestTemplate.code;
        if (code !== undefined) void navigate({ to: '/shop/templates/$code', params: { code } });
      },
      () => undefined,
    );
  return (
    <>
      <Button
        disabled={bundled.loading}
        title={t('shop.addBundledText')}
        onClick={() => void addBundled().catch(() => undefined)}
      >
        {t('shop.addBundled')}
      </Button>
      <Button disabled={test.loading} onClick={() => void makeTest()}>
        {t('shop.newTest')}
      </Button>
      {error !== undefined && <Problem error={error} />}
    </>
  );
}
