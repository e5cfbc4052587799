package main

import "math"

// birthday returns the chance that two of n draws clash, where each draw clashes
// with each earlier one with chance p:
//
//	1 - (1-p)(1-2p)...(1-(n-1)p)
//
// That is the birthday problem if p is one over the number of values. n is a
// whole number from 1; p lies between 0 and 1. The result has the full precision
// of a float64 to within a few digits, however small or large it is.
func birthday(n, p float64) float64 {
	if (n-1)*p >= 1 {
		return 1
	}
	return 0 - math.Expm1(logNoClash(n, p)) // and not -0
}

// logNoClash returns the natural logarithm of the product above.
func logNoClash(n, p float64) float64 {
	const few = 1 << 20 // factors are multiplied one by one up to here
	if n <= few {
		var sum, rest float64 // Kahan's summation
		for i := 1.0; i < n; i++ {
			term := math.Log1p(-i*p) - rest
			next := sum + term
			rest = next - sum - term
			sum = next
		}
		return sum
	}
	// The sum of log(1-ip) over i from 0 to n-1 by Euler and Maclaurin. The terms
	// after these are smaller than the last by a factor of n^2, except where y is
	// so near to 1 that the product is 0.
	y := n * p
	if y >= 1 {
		return math.Inf(-1)
	}
	return -n*y*entropy(y) - math.Log1p(-y)/2 - p*y/(1-y)/12
}

// entropy returns ((1-y)log(1-y)+y)/y^2 without cancellation, for y from 0 to 1.
func entropy(y float64) float64 {
	if y > 0.1 {
		return ((1-y)*math.Log1p(-y) + y) / (y * y)
	}
	var sum float64
	power := 1.0
	for k := 2.0; power > 0 && k < 40; k++ {
		sum += power / (k * (k - 1))
		power *= y
	}
	return sum
}
