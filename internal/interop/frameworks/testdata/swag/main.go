package main

import "github.com/oidkit/oid/objectid"

// Order is an order.
type Order struct {
	ID     objectid.ID   `json:"id"`
	Parent *objectid.ID  `json:"parent"`
	Items  []objectid.ID `json:"items"`
}

// getOrder answers with an order.
//
//	@Summary	an order
//	@Param		id	path		objectid.ID	true	"its id"
//	@Success	200	{object}	Order
//	@Router		/orders/{id} [get]
func getOrder() Order { return Order{} }

// @title		shop
// @version	1
func main() { getOrder() }
