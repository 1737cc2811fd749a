-- A platform's store with the documented columns alone, made by someone who never heard of Rankscope.
create table organizations (id varchar(40) primary key, name varchar(200) not null, features jsonb, plan text);
create table projects (id text primary key, org_id text not null references organizations (id), name text not null);
create table sessions (
  id text primary key, org_id text not null, project_id text, agent_id text, work_type text, outcome text,
  created_at timestamp with time zone not null
);
create table observations (
  id uuid primary key, org_id text not null, project_id text, content text not null, weight real not null default 1.0,
  status text not null default 'active', created_at timestamp with time zone not null
);
create table retrieval_ab_logs (
  session_id text not null, org_id text not null, project_id text, query_text text not null, observation_id uuid not null,
  relevance_score real, feedback_weight real, weighted_score real, unweighted_rank integer, weighted_rank integer,
  weighting_enabled boolean not null
);
create index logs_by_org on retrieval_ab_logs (org_id, session_id);
create view active_observations as select * from observations where status = 'active';
create function touch() returns trigger language plpgsql as $$ begin return new; end $$;
create trigger touched before update on sessions for each row execute function touch();
alter table sessions enable row level security;
create policy everyone on sessions using (true);
grant select on organizations to public;

insert into organizations values ('acme', 'Acme', '{"feedback_weighting_disabled": false}', 'pro'), ('globex', 'Globex', null, 'free');
insert into projects values ('web', 'acme', 'Web');
insert into sessions values ('s1', 'acme', 'web', 'a', 'feature', 'accepted', now());
insert into observations (id, org_id, project_id, content, created_at)
  values ('00000000-0000-0000-0000-000000000001', 'acme', 'web', 'use tabs', now());
insert into retrieval_ab_logs
  values ('s1', 'acme', 'web', 'tabs?', '00000000-0000-0000-0000-000000000001', 0.5, 1, 0.5, 0, 0, true);
