import { useNavigate, useSearch } from '@tanstack/react-router';

import { useCaller } from '../../api/use-caller.ts';
import { AdministratorsOnly } from '../../parts/access/administrators-only.tsx';
import { t } from '../../text/text.ts';
import { Cards } from './cards.tsx';
import { Catalog } from './catalog/catalog.tsx';
import { Executions } from './executions.tsx';
import { Payments } from './payments.tsx';

const VIEWS = ['templates', 'executions', 'payments', 'manage'] as const;

/** What is for sale, what was run and paid, and, for administrators, the catalog itself. */
export function ShopPage() {
  const { view = 'templates' } = useSearch({ from: '/shop' });
  const navigate = useNavigate({ from: '/shop' });
  const caller = useCaller();
  const mayManage = caller?.mayAdministrate === true;
  return (
    <>
      <header className="top">
        <h1>{t('page.shop')}</h1>
        <div className="seg push" role="group" aria-label={t('shop.view')}>
          {VIEWS.filter((one) => one !== 'manage' || mayManage).map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === view}
              onClick={() => void navigate({ search: one === 'templates' ? {} : { view: one } })}
            >
              {t(`shop.view.${one}`)}
            </button>
          ))}
        </div>
      </header>
      <div className="page">
        {view === 'templates' && <Cards />}
        {view === 'executions' && <Executions />}
        {view === 'payments' && <Payments />}
        {view === 'manage' && mayManage && <Catalog />}
        {view === 'manage' && caller?.mayAdministrate === false && <AdministratorsOnly />}
      </div>
    </>
  );
}
