package sealed_test

import (
	"fmt"
	"log"
	"os"

	"github.com/oidkit/oid/objectid"
	"github.com/oidkit/oid/objectid/sealed"
)

// The id of an order leaves the system under a key.
func Example() {
	os.Setenv("SHOP_SEAL_KEY", "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f")
	if err := showOrder(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// order_140COY9VZRS6_wzq57f9Xg
	// 507f1f77bcf86cd799439011
}

func showOrder() error {
	key, err := sealed.ParseKey(os.Getenv("SHOP_SEAL_KEY"))
	if err != nil {
		return err
	}
	orders, err := sealed.New(&sealed.Options{Kind: "order", Keys: []sealed.Key{key}, Prefix: "order_"})
	if err != nil {
		return err
	}
	public := orders.Seal(objectid.MustParse("507f1f77bcf86cd799439011"))
	fmt.Println(public)
	id, err := orders.Open(public)
	if err != nil {
		return err
	}
	fmt.Println(id)
	return nil
}
