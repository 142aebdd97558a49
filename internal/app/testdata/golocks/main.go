// Command golocks takes a lock with each library, at the server with the address that is given,
// and prints "taken". For the next line that it reads it claims each of them again, has the first
// owners release theirs, and prints "claimed". It ends with its standard input.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

func main() {
	ctx := context.Background()
	client := redis.NewClient(&redis.Options{Addr: os.Args[1]})
	sync := redsync.New(goredis.NewPool(client))
	claim := func() (*redsync.Mutex, *redislock.Lock) {
		mutex := sync.NewMutex("invoices", redsync.WithExpiry(10*time.Minute), redsync.WithTries(1))
		if err := mutex.LockContext(ctx); err != nil {
			log.Fatal(err)
		}
		lock, err := redislock.Obtain(ctx, client, "import", 10*time.Minute, &redislock.Options{Metadata: "mailer-7"})
		if err != nil {
			log.Fatal(err)
		}
		return mutex, lock
	}
	mutex, lock := claim()
	fmt.Println("taken")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		claim()
		_, _ = mutex.UnlockContext(ctx) // it is told that it owns nothing, as the other is
		_ = lock.Release(ctx)
		fmt.Println("claimed")
	}
}
