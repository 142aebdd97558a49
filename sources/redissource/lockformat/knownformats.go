package lockformat

import (
	"coordtop/coord/rediscoord"
	"coordtop/internal/ground/lazy"
	"coordtop/sources"
)

// table has every known format. The first match is used, so that formats that prove more stand first. A comment names
// the source that was read: repository, file.
var table = []Format{
	// Redisson (redisson/redisson, RedissonLock, RedissonReadLock, RedissonFairLock, RedissonFencedLock).
	{
		Program: "Redisson read-write lock", Kind: sources.KindMutex, Certain: true, typ: Hash, members: isUUIDNumber | isUUIDWrite, mark: "mode",
		beside: []companion{{AskSubscribers, channelOf("redisson_rwlock")}}, read: (*Lock).readRedisson,
		Release: Release{Removes: rediscoord.Field, wake: wakeReaders},
	},
	{
		Program: "Redisson", Certain: true, typ: Hash, members: isUUIDNumber,
		beside: []companion{
			{AskSubscribers, channelOf(redissonChannel)}, {AskList, channelOf(redissonQueue)},
			{AskSortedSet, channelOf(redissonDeadlines)}, {AskString, channelOf(redissonFence)},
		},
		read: (*Lock).readRedisson, Release: Release{Removes: rediscoord.Field, beside: channelOf(redissonQueue), channel: channelOf(redissonChannel), wake: wakeRedisson},
	},
	// RedissonSemaphore, RedissonPermitExpirableSemaphore.
	{
		Program: "Redisson", Kind: sources.KindSemaphore, typ: String, values: isNumber, needsSemaphore: true,
		beside: []companion{{AskSortedSet, permitsOf}, {AskSubscribers, channelOf(redissonSemaphores)}},
		read:   (*Lock).readPermits, Release: Release{Removes: rediscoord.Permit, beside: permitsOf, channel: channelOf(redissonSemaphores)},
	},

	// mhenrixon/sidekiq-unique-jobs, lib/sidekiq_unique_jobs/lua/{lock,unlock,lock_v9,unlock_v9}.lua.
	{
		Program: "sidekiq-unique-jobs", Kind: sources.KindMutex, Certain: true, NoTTL: true, typ: Hash, name: name{part: "uniquejobs:", ends: uniqueLocked}, fixed: true,
		beside: []companion{{AskList, uniqueQueue(":QUEUED")}, {AskList, uniqueQueue(":PRIMED")}},
		read:   (*Lock).readUniqueJobs, Release: Release{Removes: rediscoord.Field, wake: wakeUniqueJobs},
	},
	// dv/redis-semaphore, lib/redis/semaphore.rb.
	{
		Program: "redis-semaphore (Ruby)", Kind: sources.KindSemaphore, Certain: true, NoTTL: true, typ: Hash, name: name{part: "SEMAPHORE:", ends: rubyTaken}, fixed: true,
		beside: []companion{{AskList, rubyFreeOf}}, read: (*Lock).readRuby,
		Release: Release{Removes: rediscoord.Returned, beside: rubyFreeOf},
	},
	// swarthy/redis-semaphore, src/semaphore/acquire/lua.ts, src/multiSemaphore/acquire/lua.ts.
	{
		Program: "redis-semaphore", Kind: sources.KindSemaphore, Certain: true, typ: SortedSet, name: name{begins: "semaphore:"}, members: isUUID | isUUIDPermit,
		read: (*Lock).readMembers, Release: Release{Removes: rediscoord.Members},
	},
	// symfony/symfony, src/Symfony/Component/Lock/Store/RedisStore.php, from 5.2 on.
	{
		Program: "Symfony", Kind: sources.KindMutex, Certain: true, typ: SortedSet, members: isBase64Long,
		read: (*Lock).readMembers, Release: Release{Removes: rediscoord.Members},
	},

	// lukas-krecan/ShedLock, providers/redis, InternalRedisLockProvider.
	{Program: "ShedLock", Kind: sources.KindMutex, Certain: true, typ: String, values: isShedLock, Release: Release{Removes: rediscoord.WholeKey, Unchecked: "unless safeUpdate is on"}},
	{Program: "ShedLock", Kind: sources.KindMutex, Certain: true, typ: String, name: name{part: "job-lock:"}, fixed: true, Release: Release{Removes: rediscoord.WholeKey, Unchecked: "unless safeUpdate is on"}},
	// taskforcesh/bullmq, src/commands/moveToActive: the worker's UUID and the number of its job.
	{
		Program: "BullMQ", Kind: sources.KindMutex, Certain: true, typ: String, name: name{ends: ":lock"}, values: isUUIDNumber,
		beside: []companion{{AskField, jobOf}}, read: (*Lock).readJob, Release: Release{Removes: rediscoord.WholeKey},
	},
	{Program: "Bull", Kind: sources.KindMutex, Certain: true, typ: String, name: name{begins: "bull:", ends: ":lock"}, values: isUUID, Release: Release{Removes: rediscoord.WholeKey}},
	// sidekiq/sidekiq, lib/sidekiq/api.rb reads it. The writer is closed.
	{Program: "Sidekiq", Kind: sources.KindElection, Certain: true, typ: String, name: name{part: "dear-leader", ends: "dear-leader"}, fixed: true, Release: Release{Removes: rediscoord.WholeKey, Unchecked: unread}},
	// sibson/redbeat, redbeat/schedulers.py.
	{Program: "redbeat", Kind: sources.KindElection, Certain: true, typ: String, name: name{part: "redbeat:", ends: ":lock"}, fixed: true, Release: Release{Removes: rediscoord.WholeKey}},
	// rq/rq, rq/scheduler.py.
	{Program: "rq", Kind: sources.KindElection, Certain: true, typ: String, name: name{part: "rq:scheduler-lock:"}, fixed: true, Release: Release{Removes: rediscoord.WholeKey, Unchecked: always}},
	// resque/resque-scheduler, lib/resque/scheduler/locking.rb.
	{Program: "resque-scheduler", Kind: sources.KindElection, Certain: true, typ: String, name: name{part: "resque_scheduler_master_lock"}, fixed: true, Release: Release{Removes: rediscoord.WholeKey, Unchecked: "in two steps"}},
	// defunkt/resque-lock, lib/resque/plugins/lock.rb, after resque's namespace.
	{Program: "resque-lock", Kind: sources.KindMutex, Certain: true, NoTTL: true, typ: String, name: name{begins: "resque:lock:"}, fixed: true, Release: Release{Removes: rediscoord.WholeKey, Unchecked: always}},
	// kenn/redis-mutex, lib/redis_mutex.rb: the value is the end of the lock.
	{Program: "redis-mutex", Kind: sources.KindMutex, Certain: true, NoTTL: true, typ: String, name: name{part: "RedisMutex:"}, fixed: true, Release: Release{Removes: rediscoord.WholeKey, Unchecked: "in two steps"}},
	// veeqo/activejob-uniqueness, lib/active_job/uniqueness/lock_key.rb.
	{Program: "activejob-uniqueness", Kind: sources.KindMutex, Certain: true, typ: String, name: name{part: "activejob_uniqueness:"}, fixed: true, Release: Release{Removes: rediscoord.WholeKey}},
	// gitlabhq/gitlabhq, lib/gitlab/exclusive_lease.rb.
	{Program: "GitLab", Kind: sources.KindMutex, Certain: true, typ: String, name: name{part: "gitlab:exclusive_lease:"}, fixed: true, Release: Release{Removes: rediscoord.WholeKey}},
	// steinitzu/celery-singleton, celery_singleton/{util,backends/redis}.py.
	{Program: "celery-singleton", Kind: sources.KindMutex, Certain: true, NoTTL: true, typ: String, name: name{begins: "SINGLETONLOCK_"}, fixed: true, Release: Release{Removes: rediscoord.WholeKey, Unchecked: always}},
	// cameronmaske/celery-once, celery_once/{helpers,backends/redis}.py.
	{Program: "celery-once", Kind: sources.KindMutex, Certain: true, typ: String, name: name{begins: "qo_"}, fixed: true, Release: Release{Removes: rediscoord.WholeKey, Unchecked: always}},
	// laravel/framework, src/Illuminate/Bus/UniqueLock.php, Console/Scheduling/Event.php, Cache/RedisLock.php.
	{Program: "Laravel", Kind: sources.KindMutex, Certain: true, NoTTL: true, typ: String, name: name{part: "laravel_unique_job:"}, fixed: true, Release: Release{Removes: rediscoord.WholeKey, Unchecked: "where it was told to force"}},
	{Program: "Laravel", Kind: sources.KindMutex, Certain: true, typ: String, name: name{part: "framework/schedule-"}, fixed: true, Release: Release{Removes: rediscoord.WholeKey, Unchecked: "where it was told to force"}},
	{Program: "Laravel", Kind: sources.KindMutex, Certain: true, typ: String, name: name{part: "laravel"}, values: isRandom16 | isSerialized16, Release: Release{Removes: rediscoord.WholeKey}},
	// jlinn/quartz-redis-jobstore, RedisJobStoreSchema.java, AbstractRedisStorage.java.
	{Program: "Quartz", Kind: sources.KindMutex, Certain: true, typ: String, name: name{part: "trigger_lock:"}, fixed: true, Release: Release{Removes: rediscoord.WholeKey, Unchecked: always}},
	{Program: "Quartz", Kind: sources.KindMutex, Certain: true, typ: String, name: name{part: "quartz", ends: "lock"}, values: isUUID, Release: Release{Removes: rediscoord.WholeKey, Unchecked: "in two steps"}},
	// marcoCasamento/Hangfire.Redis.StackExchange, RedisLock.cs, RedisStorageOptions.cs: any resource after the prefix.
	{Program: "Hangfire", Kind: sources.KindMutex, Certain: true, typ: String, name: name{begins: "{hangfire}:"}, values: isUUID, Release: Release{Removes: rediscoord.WholeKey}},
	{Program: "Hangfire", Kind: sources.KindMutex, Certain: true, typ: String, name: name{begins: "hangfire:"}, values: isUUID, Release: Release{Removes: rediscoord.WholeKey}},
	// swarthy/redis-semaphore, src/RedisMutex.ts.
	{Program: "redis-semaphore", Kind: sources.KindMutex, Certain: true, typ: String, name: name{begins: "mutex:"}, values: isUUID, Release: Release{Removes: rediscoord.WholeKey}},
	// zyno-io/dk-server-foundation, src/services/leader.ts; coordtop uses the same form.
	{Program: "LeaderService", Kind: sources.KindElection, typ: String, name: name{part: "leader:"}, values: isUUID | isUUIDData, Release: Release{Removes: rediscoord.WholeKey}},

	// django-commons/django-redis, django_redis/client/default.py: redis-py's lock after prefix and version.
	{Program: "django-redis", Certain: true, Nonce: true, typ: String, name: name{pattern: versioned}, values: isHexTime, Release: Release{Removes: rediscoord.WholeKey}},
	// redis/redis-py, redis/lock.py.
	{Program: "redis-py", Nonce: true, typ: String, Certain: true, values: isHexTime, Release: Release{Removes: rediscoord.WholeKey}},
	// mike-marcacci/node-redlock, src/index.ts.
	{Program: "node-redlock", typ: String, Weak: true, values: isHex, Release: Release{Removes: rediscoord.WholeKey}},
	// go-redsync/redsync, mutex.go; go-co-op/gocron-redis-lock uses it for its locks.
	{Program: "redsync", typ: String, values: isBase64, Release: Release{Removes: rediscoord.WholeKey}},
	// symfony/symfony, src/Symfony/Component/Lock/Store/RedisStore.php, before 5.2.
	{Program: "Symfony", typ: String, values: isBase64Long, Release: Release{Removes: rediscoord.WholeKey}},
	// bsm/redislock, redislock.go: 16 bytes, and a text that the program chose.
	{Program: "redislock", typ: String, Weak: true, values: isBase64URL, read: (*Lock).readMetadata, Release: Release{Removes: rediscoord.WholeKey}},
	{Program: "Laravel", typ: String, Weak: true, name: name{pattern: cached}, values: isRandom16 | isSerialized16, Release: Release{Removes: rediscoord.WholeKey}},
	{Program: "Laravel", typ: String, Weak: true, needsWord: true, values: isRandom16 | isSerialized16, Release: Release{Removes: rediscoord.WholeKey}},
	// SPSCommerce/redlock-py, redlock/__init__.py: get_unique_id.
	{Program: "redlock-py", typ: String, Weak: true, values: isRandom22, Release: Release{Removes: rediscoord.WholeKey}},
	// spring-projects/spring-integration, RedisLockRegistry.java: a colon follows the registry;
	// leandromoreira/redlock-rb, lib/redlock/client.rb: any name.
	{Program: "Spring or redlock-rb", typ: String, Weak: true, name: name{pattern: registered}, values: isUUID, Release: Release{Removes: rediscoord.WholeKey, wake: wakeSpring}},
	{Program: "redlock-rb", typ: String, Weak: true, values: isUUID, Release: Release{Removes: rediscoord.WholeKey}},
}

var (
	// versioned matches a key of Django's cache: a prefix (usually empty), a version, the key.
	versioned = lazy.Regexp(`^[^:]*:\d{1,4}:.`)
	// cached matches a key of Laravel's cache: the slug of the application, _cache_ or -cache-, the key.
	cached = lazy.Regexp(`[0-9a-z][_-]cache[_-]:?.`)
	// registered matches a key of Spring: its registry, the key.
	registered = lazy.Regexp(`:.`)
)
